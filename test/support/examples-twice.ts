/**
 * Runs examples as their readers do, twice: the first process is killed with SIGKILL in the middle of their work, a
 * second one takes it up, then runs each a last time. A group of examples shares its two processes, its folder and its
 * store, on the tests' Temporal server; examples of a group have agents and sessions of different names.
 *
 * An example is the text of a module that imports `everthread/…` by name. Its own lines can use what `GIVEN` lists.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readExamples } from '../docs/page-examples.ts';
import { PROGRAM_OPTIONS } from './program-options.ts';

export interface Example {
  /** Where its reader finds it: a page of ours, or of another project. */
  readonly page: string;
  /** The block of our page that holds this text; or the line of another page, and what its reader types here. */
  readonly at: string | { readonly line: number; readonly source: string };
  /** Changes of its text: what a reader fills in, and what reports a point or an effect. Each text occurs once. */
  readonly edits?: readonly (readonly [text: string, instead: string])[];
  /**
   * Point at which its first process is killed: of a `stop` in its text, or `model 2` for the second request to its
   * scripted model. Without one, its first run ends.
   */
  readonly stop?: string;
}

type RunName = 'first' | 'second' | 'again';

export interface ExampleRun {
  /** `done`, `killed at POINT`, or `failed: …`. */
  readonly state: string;
  /** What it has printed. */
  readonly lines: readonly string[];
  /** Its effects: those of `did`, and requests to its model, `model 1` and so on. */
  readonly did: readonly string[];
}

export interface TwiceRun extends Readonly<Record<RunName, ExampleRun>> {
  /** `docs/agenticx.md:10`. */
  readonly place: string;
  /** How often each effect was caused, in all runs. */
  count(effect: string): number;
}

export interface Group {
  readonly examples: readonly TwiceRun[];
  /** What each process has written to standard error. */
  readonly errors: readonly string[];
}

/** A lost call is noticed after this time; a busy machine must not seem lost. */
const HEARTBEAT_MS = '8000';
const ZOD = dirname(createRequire(import.meta.url).resolve('zod/package.json'));

/** Makes a project of the examples, and returns its folder. */
function makeFolder(group: readonly Example[]): string {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(ZOD, join(folder, 'node_modules', 'zod'));
  writeFileSync(join(folder, 'package.json'), '{"name":"my-agents","type":"module"}');
  copyFileSync(join(import.meta.dirname, 'example-process.mjs'), join(folder, 'example-process.mjs'));
  for (const [number, example] of group.entries()) placeExample(folder, number, example);
  return folder;
}

/**
 * Runs one example in two processes at once, which are both killed at its point, then in two others at once. Returns what
 * each of those has printed.
 */
export async function runBeside(example: Example): Promise<readonly (readonly string[])[]> {
  const group = [example];
  const folder = makeFolder(group);
  const runBoth = (run: RunName) =>
    Promise.all([runProcess(folder, run, group), runProcess(folder, run, group)]);
  const killed = await runBoth('first');
  const states = killed.map(({ told }) => told.findLast((one) => 'state' in one));
  if (!states.every((one) => one && 'state' in one && one.state.startsWith('killed')))
    throw new Error(`Not killed: ${JSON.stringify(killed)}`);
  const ended = await runBoth('second');
  return ended.map(({ told }) =>
    told.flatMap((one) => (one.run !== 'second' ? [] : 'line' in one ? [one.line] : [one.state])),
  );
}

export async function runTwice(group: readonly Example[]): Promise<Group> {
  const folder = makeFolder(group);
  const first = await runProcess(folder, 'first', group);
  const second = await runProcess(folder, 'second', group);
  const told = [...first.told, ...second.told];
  const examples = group.map((example, number): TwiceRun => {
    const ran = (run: RunName) => runOf(folder, told, { run, number });
    const runs = { first: ran('first'), second: ran('second'), again: ran('again') };
    const all = Object.values(runs).flatMap(({ did }) => did);
    const count = (effect: string) => all.filter((done) => done === effect).length;
    return { place: find(example).place, ...runs, count };
  });
  return { examples, errors: [first.errors, second.errors] };
}

/** One line of each example, for a table. */
export function tabulate(examples: readonly TwiceRun[]): string {
  const said = ({ state, lines }: ExampleRun) => `${state.split('\n')[0]} [${lines.join(' / ')}]`;
  return examples
    .map(({ place, first, second, again }) => [place, said(first), said(second), said(again)].join(' | '))
    .join('\n');
}

/** What the text of an example can use besides its imports. */
const GIVEN = ['console', 'did', 'stop'];

/** Finds the text of an example, and its place as in a table. */
function find({ page, at }: Example): { readonly place: string; readonly text: string } {
  if (typeof at !== 'string') return { place: `${page}:${at.line}`, text: at.source };
  const prefix = `${page.replace('/', '-')}/`;
  const blocks = [...readExamples()].filter(([path, text]) => path.startsWith(prefix) && text.includes(at));
  const [[path, text] = ['', '']] = blocks;
  if (blocks.length !== 1) throw new Error(`${page} has ${blocks.length} examples with: ${at}`);
  return { place: `${page}:${path.slice(prefix.length).split('/')[0]}`, text };
}

function placeExample(folder: string, number: number, example: Example): void {
  const { edits = [], stop = '' } = example;
  const found = find(example);
  let { text } = found;
  for (const [old, instead] of edits) {
    if (text.split(old).length !== 2) throw new Error(`${found.place} does not have once: ${old}`);
    text = text.replace(old, () => instead);
  }
  const given = `./given-${number}.ts`;
  const scripted = text.replaceAll("'everthread/testing'", `'${given}'`);
  const own = `import { ${GIVEN.join(', ')} } from '${given}';\n`;
  writeFileSync(join(folder, `example-${number}.ts`), `${own}${scripted}`);
  writeFileSync(join(folder, given), givenModule(number, stop));
}

/**
 * The module that an example gets in place of `everthread/testing`. A list of steps answers by the number of answers in
 * the request, so that a second process goes on where the first one was; a later turn of a session begins it anew.
 */
const givenModule = (number: number, point: string) => `
import { appendFileSync } from 'node:fs';
import { format } from 'node:util';
import { scriptedModel as scripted } from 'everthread/testing';
export * from 'everthread/testing';
const run = () => process.env.EVERTHREAD_EXAMPLE_RUN;
const tell = (told) => process.send({ run: run(), number: ${number}, ...told });
const log = (...args) => tell({ line: format(...args) });
export const console = { ...globalThis.console, log, info: log };
export const did = (effect) => appendFileSync('did-${number}-' + run(), effect + '\\n');
export async function stop(point) {
  if (run() !== 'first' || point !== ${JSON.stringify(point)}) return;
  tell({ state: 'killed at ' + point });
  await new Promise(() => undefined);
}
export function scriptedModel(script, options) {
  return scripted(async (request) => {
    const answers = request.messages.filter(({ role }) => role === 'assistant').length;
    did('model ' + (answers + 1));
    await stop('model ' + (answers + 1));
    const step = typeof script === 'function' ? script : script[answers % script.length];
    return typeof step === 'function' ? step(request, answers) : step;
  }, options);
}
`;

type Told = { readonly run: RunName; readonly number: number } & (
  | { readonly line: string }
  | { readonly state: string }
);

interface Ended {
  readonly told: readonly Told[];
  readonly errors: string;
}

/** Resolves once the process has ended: killed, if an example stands at its point and all others stand or have ended. */
function runProcess(folder: string, run: RunName, group: readonly Example[]): Promise<Ended> {
  const hooks = fileURLToPath(new URL('own-name.mjs', import.meta.url));
  const program = [join(folder, 'example-process.mjs'), run, ...group.keys()].map(String);
  const child = spawn(process.execPath, ['--import', hooks, ...PROGRAM_OPTIONS, ...program], {
    cwd: folder,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      EVERTHREAD_STORE: 'sqlite:data/store.db?synchronous=normal',
      EVERTHREAD_MODEL_HEARTBEAT_MS: HEARTBEAT_MS,
      EVERTHREAD_TOOL_HEARTBEAT_MS: HEARTBEAT_MS,
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const told: Told[] = [];
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  child.on('message', (message: Told) => {
    told.push(message);
    const states = told.flatMap((one) => ('state' in one ? [one.state] : []));
    const isStanding = states.some((state) => state.startsWith('killed'));
    if (run === 'first' && isStanding && states.length === group.length) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') return resolve({ told, errors });
      return reject(new Error(`The process of the examples ended with ${code ?? signal}: ${errors}`));
    });
  });
}

function runOf(
  folder: string,
  told: readonly Told[],
  { run, number }: { readonly run: RunName; readonly number: number },
): ExampleRun {
  const own = told.filter((one) => one.run === run && one.number === number);
  const file = join(folder, `did-${number}-${run}`);
  return {
    state: own.flatMap((one) => ('state' in one ? [one.state] : [])).at(-1) ?? 'not begun',
    lines: own.flatMap((one) => ('line' in one ? [one.line] : [])),
    did: existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [],
  };
}
