/** Style of the page of recommendations, beside that of every page. Colour repeats what the text says. */
export const adviceStyle = `
article { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.8rem 1rem; margin: 1rem 0; }
article h3 { margin: 0 0 0.4rem; font-size: 1.05rem; }
article h4 { margin: 1rem 0 0.3rem; font-size: 0.95rem; }
article p { margin: 0.4rem 0; }
.kind { display: inline-block; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0 0.4rem; font-size: 0.85rem;
  color: var(--quiet); }
article ul { margin: 0.2rem 0; padding-left: 1.3rem; }
.id { color: var(--quiet); white-space: nowrap; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 0.8rem; margin: 0.6rem 0; }
.facts dt, .facts dd { font-size: 1rem; } .facts dd { font-weight: 600; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.5rem 0.7rem; margin: 0.3rem 0;
  font: 0.85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
ol.steps { padding-left: 1.3rem; } ol.steps > li { margin-bottom: 0.8rem; }
.wide th[scope=row] { min-width: 7rem; } .withheld li { margin-bottom: 0.5rem; }
form { margin-top: 0.8rem; display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; }
label { display: block; flex: 1 1 14rem; color: var(--quiet); font-size: 0.9rem; }
input[type=text] { display: block; width: 100%; font: inherit; padding: 0.35rem 0.5rem; color: var(--text);
  background: var(--back); border: 1px solid var(--quiet); border-radius: 0.3rem; }
button { font: inherit; padding: 0.4rem 0.9rem; border: 1px solid var(--quiet); border-radius: 0.3rem; color: var(--text);
  background: var(--back); cursor: pointer; }
.taken { color: var(--ok); } .expired, .dismissed { color: var(--quiet); }
`;
