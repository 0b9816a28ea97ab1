/** docs/generated/mutations.md: what each mutation breaks, and which test notices it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../set-up.mjs';

export const PAGE = join(ROOT, 'docs', 'generated', 'mutations.md');

const HEAD = `# What the tests notice

\`npm run mutate\` changes the source in one place at a time and runs the tests that guard the place; each of these
changes makes one of them fail. A change that no test notices would show a promise that nothing guards. The list is in
\`scripts/mutations/\`. \`npm run mutate -- --write\` writes this page, and \`test/docs/mutations.test.ts\` checks that
every change still finds its text in the source.

`;
const NOTICED_BY = 'noticed by';
const NOT_RUN = '**not run yet**';

/** Writes the page; new findings (name → cell) replace those that it has. */
export function writePage(parts, findings) {
  const known = readFindings();
  writeFileSync(
    PAGE,
    renderPage(parts, (name) => findings.get(name) ?? known.get(name) ?? NOT_RUN),
  );
}

/** Returns which test has noticed which mutation, as the page has it. */
export function readFindings() {
  const rows = readPage().matchAll(/^\| .*? \| (.*?) \| (.*) \|$/gm);
  const isHead = (finding) => finding === '---' || finding === NOTICED_BY;
  return new Map(
    [...rows].filter(([, , finding]) => !isHead(finding)).map(([, name, finding]) => [name, finding]),
  );
}

/** Returns the page; `finding` returns the last cell of a mutation's row. */
export function renderPage(parts, finding) {
  const sections = parts.map(({ title, mutations }) => {
    const rows = mutations.map(({ rule, name }) => `| ${rule} | ${name} | ${finding(name)} |`);
    return `## ${title}\n\n| promise | broken by | ${NOTICED_BY} |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return HEAD + sections.join('\n');
}

/** Formats a finding: the first test that has noticed the mutation. */
export function toCell({ verdict, by = [] }) {
  if (verdict !== 'noticed') return verdict === 'survives' ? '**nothing**' : '**nothing that can be told**';
  const [first] = by;
  return first.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}

/** Returns the page; an empty text if there is none yet. */
export function readPage() {
  try {
    return readFileSync(PAGE, 'utf8');
  } catch {
    return '';
  }
}
