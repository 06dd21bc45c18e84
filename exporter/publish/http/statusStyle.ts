/** Style of the start page: light and dark, readable from 375 px on. Colour repeats what the text says. */
export const statusStyle = `
:root { color-scheme: light dark; --text: #1c2126; --back: #ffffff; --line: #d5dae0; --quiet: #57606a; --link: #0b5cad;
  --error: #b3261e; --warning: #8a5a00; --ok: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --back: #14181c; --line: #333b43; --quiet: #9aa4ae;
  --link: #7cb7f5; --error: #ff8a80; --warning: #f0b849; --ok: #6fdc8c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.75rem 0 0.5rem; }
header p, footer, .next { color: var(--quiet); } header p { margin: 0; } footer { margin-top: 2rem; font-size: 0.9rem; }
a { color: var(--link); }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 1.25rem 0; }
.numbers div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; }
dt { color: var(--quiet); font-size: 0.9rem; } dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; }
th, td { overflow-wrap: normal; border-bottom: 1px solid var(--line); padding: 0.4rem 0.6rem 0.4rem 0; text-align: left; font-weight: 400; }
thead th { color: var(--quiet); font-size: 0.9rem; }
.problems { list-style: none; padding: 0; }
.problems li { border-left: 0.25rem solid var(--line); padding: 0.2rem 0 0.2rem 0.75rem; margin-bottom: 0.75rem; }
.problems .error { border-color: var(--error); } .problems .warning { border-color: var(--warning); }
td.error, p.error, .problems .error strong { color: var(--error); }
p.warning, .problems .warning strong { color: var(--warning); }
.ok { color: var(--ok); }
`;
