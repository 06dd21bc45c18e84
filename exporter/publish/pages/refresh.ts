import { inlineSource } from "./pageStyle.ts";

/**
 * The script of a page that refreshes itself. It fetches the page anew and changes only what differs, so that a reader keeps
 * what is selected and focused, which details are open, and the position on the screen. Elements are matched by their id, else
 * by their order. Elements with `data-keep` belong to the script. Without the script the page stays as it is, and says how to
 * reload it.
 */
export const refreshScript = `
(() => {
  const note = document.getElementById("refresh-note");
  const box = document.getElementById("refresh");
  const every = 1000 * Number(document.body.dataset.refresh);
  let at = Date.now();
  let timer = 0;
  const isAlike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id || "") === (other.id || "");
  const isKept = (node, name) => node.nodeName === "DETAILS" && name === "open";
  function morph(old, fresh) {
    if (old.nodeType !== 1) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    if ("keep" in old.dataset || old.nodeName === "SCRIPT") return;
    for (const { name } of [...old.attributes])
      if (!fresh.hasAttribute(name) && !isKept(old, name)) old.removeAttribute(name);
    for (const { name, value } of [...fresh.attributes])
      if (old.getAttribute(name) !== value && !isKept(old, name)) old.setAttribute(name, value);
    let place = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      const known = next.id ? [...old.children].find((child) => child.id === next.id) : undefined;
      if (known !== undefined && known !== place) old.insertBefore(known, place);
      const match = known ?? place;
      if (match !== null && isAlike(match, next)) {
        place = match.nextSibling;
        morph(match, next);
      } else old.insertBefore(next, place);
    }
    while (place !== null) {
      const after = place.nextSibling;
      place.remove();
      place = after;
    }
  }
  const stops = "a[href], summary, button, input, [tabindex]";
  function focusedPlace() {
    const active = document.activeElement;
    const anchor = active?.parentElement?.closest("[id]");
    if (!anchor || active === document.body) return null;
    return { active, id: anchor.id, index: [...anchor.querySelectorAll(stops)].indexOf(active) };
  }
  function giveBack(place) {
    if (place === null || document.activeElement === place.active) return;
    const again = place.active.isConnected ? place.active : document.getElementById(place.id)?.querySelectorAll(stops)[place.index];
    again?.focus({ preventScroll: true });
  }
  function topMost() {
    for (const one of document.querySelectorAll("main [id]")) {
      const { top } = one.getBoundingClientRect();
      if (top >= 0) return { id: one.id, top };
    }
    return null;
  }
  async function refresh() {
    at = Date.now();
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", redirect: "error" });
      if (!answer.ok) throw new Error("the answer was " + answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (fresh.body.dataset.refresh === undefined) throw new Error("the answer was another page");
      const focused = focusedPlace();
      const top = scrollY > 0 ? topMost() : null;
      morph(document.body, document.importNode(fresh.body, true));
      if (document.title !== fresh.title) document.title = fresh.title;
      giveBack(focused);
      const moved = top === null ? null : document.getElementById(top.id);
      if (moved !== null) scrollBy(0, moved.getBoundingClientRect().top - top.top);
      if (note.textContent !== "") note.textContent = "";
    } catch (error) {
      note.textContent = "This page could not be refreshed at " + new Date(at).toISOString().slice(11, 19) + " UTC: " + error.message + ". It is tried again.";
    }
  }
  function wait() {
    clearTimeout(timer);
    if (box.checked) timer = setTimeout(look, Math.max(0, at + every - Date.now()));
  }
  async function look() {
    if (!document.hidden) await refresh();
    else at = Date.now();
    wait();
  }
  box.addEventListener("change", wait);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && box.checked) look();
  });
  box.closest("p").hidden = false;
  wait();
})();
`;

/** The source of this script, for the Content-Security-Policy. */
export const refreshSource = inlineSource(refreshScript);
