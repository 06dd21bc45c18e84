/** Style of the start page, beside that of every page. Colour repeats what the text says. */
export const statusStyle = `
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 1.25rem 0; }
.numbers div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; }
.problems { list-style: none; padding: 0; }
.problems li { border-left: 0.25rem solid var(--line); padding: 0.2rem 0 0.2rem 0.75rem; margin-bottom: 0.75rem; }
.problems .error { border-color: var(--error); } .problems .warning { border-color: var(--warning); }
td.error, .problems .error strong { color: var(--error); }
.problems .warning strong { color: var(--warning); }
`;
