/**
 * `npm run mutate`: breaks the source in one place at a time, in a copy, and runs the tests that guard the place; one
 * of them must turn red. The list of mutations is in `scripts/mutations/`. Exit code 1 if a mutation survives, or if
 * its tests are inconclusive.
 *   npm run mutate -- --only WORD …   those whose name, promise or tests contain one of the words
 *   npm run mutate -- --write         writes the findings to docs/generated/mutations.md
 *   npm run mutate -- --trust         assumes that the tests are green without the mutations, such as after `npm test`
 *   npm run mutate -- --json          the findings as JSON on standard output; progress goes to standard error
 * - The tests must be green without the mutation: each selection of them runs once on the untouched copy.
 * - The mutated sources must pass the type check: those that do not overlap are checked together.
 */
import { checkTypes, runTests } from './mutate/judge.mjs';
import { toCell, writePage } from './mutate/page.mjs';
import { Copy, mutate, readSources } from './mutate/tree.mjs';
import { PARTS } from './mutations/index.mjs';
import { setUp } from './set-up.mjs';

/** Results of the untouched copy, by selection of tests. */
const untouched = new Map();
const FLAGS = ['--only', '--write', '--trust', '--json'];
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => interrupted.abort(new Error('Stopped before the end.')));

try {
  const { words, write, trust, json } = readArguments(process.argv.slice(2));
  const chosen = PARTS.flatMap(({ mutations }) => mutations).filter((each) => isChosen(each, words));
  if (chosen.length === 0) throw new Error(`No mutation has one of these words: ${words.join(', ')}`);
  const say = json ? console.error : console.log;
  const findings = await runAll(chosen, trust, (finding, count) => {
    say(`${String(count).padStart(3)} of ${chosen.length}  ${toLine(finding)}`);
    if (write) writePage(PARTS, new Map([[finding.name, toCell(finding)]]));
  });
  if (json) console.log(JSON.stringify(findings, null, 2));
  for (const line of summarize(findings)) say(line);
  process.exitCode = findings.every(({ verdict }) => verdict === 'noticed') ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function readArguments(args) {
  const isFlag = (word) => word.startsWith('--');
  const unknown = args.filter(isFlag).find((flag) => !FLAGS.includes(flag));
  if (unknown) throw new Error(`${unknown} is none of ${FLAGS.join(', ')}`);
  const only = args.includes('--only')
    ? args.slice(args.indexOf('--only')).filter((word) => !isFlag(word))
    : [];
  const has = (flag) => args.includes(flag);
  return { words: only, write: has('--write'), trust: has('--trust'), json: has('--json') };
}

function isChosen({ name, rule, tests }, words) {
  const text = [name, rule, ...tests].join('\n').toLowerCase();
  return words.length === 0 || words.some((word) => text.includes(word.toLowerCase()));
}

/** Runs the mutations one after the other; `found` is called with each finding. */
async function runAll(mutations, trust, found) {
  const node = await setUp();
  const sources = readSources();
  // Before anything runs, so that mutations whose text is gone are reported at once.
  const changes = new Map(mutations.map((mutation) => [mutation, mutate(sources, mutation)]));
  const copy = new Copy();
  try {
    await requireTypes({ node, copy, sources }, mutations);
    const findings = [];
    for (const [mutation, changed] of changes) {
      const finding = await examine({ node, copy, sources, trust }, mutation, changed);
      findings.push(finding);
      found(finding, findings.length);
    }
    return findings;
  } finally {
    copy.remove();
  }
}

/** Throws if the mutated sources do not pass the type check. */
async function requireTypes({ node, copy, sources }, mutations) {
  for (let waiting = mutations; waiting.length > 0; ) {
    const { together, left } = applyTogether(sources, waiting);
    copy.write(together);
    const said = await checkTypes(node, copy, interrupted.signal);
    copy.write(sources);
    if (said) throw new Error(`The mutated sources do not pass the type check:\n${said}`);
    waiting = left;
  }
}

/** Applies as many mutations as do not overlap; `left` has the others. */
function applyTogether(sources, mutations) {
  const together = new Map(sources);
  const left = mutations.filter((mutation) => {
    try {
      for (const [path, text] of mutate(together, mutation)) together.set(path, text);
      return false;
    } catch {
      return true;
    }
  });
  return { together, left };
}

async function examine({ node, copy, sources, trust }, mutation, changed) {
  const started = Date.now();
  const finding = (verdict, more) => {
    const seconds = Math.round((Date.now() - started) / 1000);
    return { name: mutation.name, verdict, seconds, ...more };
  };
  const before = trust ? undefined : await runUntouched(node, copy, mutation);
  if (before && before.state !== 'green')
    return finding('unsaid', { why: `The tests are not green without it: ${before.why}` });
  try {
    copy.write(changed);
    const { state, by, why } = await runTests(node, copy, mutation, interrupted.signal);
    if (state === 'green') return finding('survives');
    return state === 'red' ? finding('noticed', { by, why }) : finding('unsaid', { why });
  } finally {
    copy.write([...changed.keys()].map((path) => [path, sources.get(path)]));
  }
}

/** Runs the tests without the mutation, once for each selection. */
async function runUntouched(node, copy, mutation) {
  const { tests, title, server } = mutation;
  const selection = JSON.stringify([tests, title, server]);
  const known = untouched.get(selection) ?? (await runTests(node, copy, mutation, interrupted.signal));
  untouched.set(selection, known);
  return known;
}

function toLine({ name, verdict, seconds, by, why }) {
  const details = [by?.[0], why].filter(Boolean).flatMap((text) => text.split('\n'));
  const first = `${verdict.padEnd(8)} ${String(seconds).padStart(4)} s  ${name}`;
  return [first, ...details.map((line) => `${' '.repeat(12)}${line}`)].join('\n');
}

function summarize(findings) {
  const count = (verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const missed = findings.filter(({ verdict }) => verdict !== 'noticed');
  return [
    ...missed.map(({ name }) => `not noticed: ${name}`),
    `${count('noticed')} noticed, ${count('survives')} survived, of ${count('unsaid')} nothing can be said`,
  ];
}
