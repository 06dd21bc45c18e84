/** An element of a page. */
export interface PageElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: PageElement | null;
  readonly children: (PageElement | string)[];
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const decoded = (text: string): string =>
  text.replaceAll(/&([^;\s]{1,6});/g, (whole, name: string) => {
    const found = entities[name];
    if (found === undefined) throw new Error(`an entity that nobody writes: ${whole}`);
    return found;
  });

/** Elements that have no end. */
const empty: ReadonlySet<string> = new Set(["meta", "link", "br", "input"]);
/** Elements whose text is not HTML. */
const raw: ReadonlySet<string> = new Set(["style", "script"]);

/** Reads a page strictly: every element is closed in order, every attribute is quoted, and no bare `<`, `>` or `&` is text. */
export function readHtml(page: string): PageElement {
  const body = page.replace(/^<!doctype html>\n/, "");
  if (body === page) throw new Error("no doctype");
  const root: PageElement = { name: "", attributes: new Map(), parent: null, children: [] };
  let open = root;
  let at = 0;
  while (at < body.length) {
    const said = textAt(body, at, open.name);
    if (said !== "") open.children.push(raw.has(open.name) ? said : decoded(said));
    at += said.length;
    if (at >= body.length) break;
    const { whole, isEnd, isEmpty, name, attributes } = tagAt(body, at);
    at += whole.length;
    if (isEnd) {
      open = closed(open, name);
      continue;
    }
    const element: PageElement = { name, attributes, parent: open, children: [] };
    open.children.push(element);
    if (!isEmpty && !empty.has(name)) open = element;
  }
  if (open !== root) throw new Error(`${open.name} is not closed`);
  return root;
}

function closed(open: PageElement, name: string): PageElement {
  if (open.name !== name || open.parent === null) throw new Error(`${name} closes ${open.name}`);
  return open.parent;
}

function textAt(body: string, at: number, within: string): string {
  if (raw.has(within)) return body.slice(at, body.indexOf(`</${within}>`, at));
  const text = /[^<]*/y;
  text.lastIndex = at;
  const [said = ""] = text.exec(body) ?? [];
  if (said.includes(">")) throw new Error(`a bare > in ${said}`);
  if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(said)) throw new Error(`a bare & in ${said}`);
  return said;
}

function tagAt(body: string, at: number) {
  const tag = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?: [a-zA-Z][a-zA-Z0-9:-]*(?:="[^"<]*")?)*)(\/?)>/y;
  tag.lastIndex = at;
  const found = tag.exec(body);
  if (found === null) throw new Error(`no tag: ${body.slice(at, at + 80)}`);
  const [whole, end, name = "", attributes = "", empty] = found;
  return { whole, name, isEnd: end === "/", isEmpty: empty === "/", attributes: attributesOf(attributes) };
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/ ([a-zA-Z][a-zA-Z0-9:-]*)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [
      name,
      decoded(value),
    ]),
  );
}

/** All elements below, in the order of the page. */
export function elementsOf(root: PageElement): readonly PageElement[] {
  return root.children.flatMap((child) => (typeof child === "string" ? [] : [child, ...elementsOf(child)]));
}

/** What a person reads there. */
export function textOf(element: PageElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

/** An attribute of the element or of the nearest one around it. */
export function nearest(element: PageElement, name: string): string | null {
  for (let one: PageElement | null = element; one !== null; one = one.parent) {
    const value = one.attributes.get(name);
    if (value !== undefined) return value;
  }
  return null;
}
