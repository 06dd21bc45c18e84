import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Bundles the page of the preview into a folder. */
export async function buildPage(root: string, folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ["page/main.tsx"],
    outdir: folder,
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    target: "es2023",
    jsx: "automatic",
    loader: { ".woff2": "file", ".woff": "file", ".svg": "dataurl", ".png": "dataurl" },
    // Maps and the code editor are never drawn, so packages of their names are stubs (package.json, overrides).
    alias: Object.fromEntries(
      ["ol/format/WKT", "monaco-editor/esm/vs/editor/editor.api", "@monaco-editor/react"].map((name) => [
        name,
        "./stubs/nothing/index.cjs",
      ]),
    ),
    define: { "process.env.NODE_ENV": '"production"', global: "window" },
    logLevel: "error",
  });
}

// This runs as a program with `node buildPage.ts FOLDER`.
const [, program, folder] = process.argv;
if (program === fileURLToPath(import.meta.url) && folder !== undefined)
  await buildPage(path.dirname(program), path.resolve(folder));
