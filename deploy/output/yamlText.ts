import { Document, Scalar, visit } from "yaml";

/** YAML for people to read: texts of several lines as blocks, and a first line that names its origin. */
export function yamlText(value: unknown, firstLine: string | null): string {
  // Many tools still read YAML 1.1, where `on` is true.
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && node.value.includes("\n")) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  if (firstLine !== null) document.commentBefore = ` ${firstLine}`;
  return document.toString({ lineWidth: 0, blockQuote: "literal" });
}
