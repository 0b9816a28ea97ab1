/**
 * `npm test`: makes the clone ready, then runs type check, lint, the check of licences and all tests. The last line is `N passed,
 * N failed`, over all of it: each check counts as one, and so does a test file that could not be loaded.
 * `npm test -- store sandbox` runs only the test files whose path contains one of the words, without type check and lint.
 * `npm run test:soak` (`node scripts/test.mjs --soak`) runs the long forms instead, `*.soak.ts`, one after the other; words select here too.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { GOGC, ROOT, run, setUp, TSC_ALONE } from './set-up.mjs';
import { readNote, watchPart } from './watch-part.mjs';

const words = process.argv.slice(2);
const SOAK = '--soak';
const filters = words.filter((word) => word !== SOAK);
const soak = words.includes(SOAK);
// Jest's configuration reads this variable to select the test files.
if (soak) process.env.EVERTHREAD_SOAK = '1';
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
/** Compile cache shared by all processes, as in the tests' global set-up. */
const COMPILED = join(ROOT, 'node_modules', '.cache', 'everthread');
/** Results of the type check by file: unchanged files are not checked again. */
const TYPES = join(ROOT, 'node_modules', '.cache', 'everthread-types', 'all.tsbuildinfo');
/**
 * Number of processes that take files from one list. Tests wait for half of their time: three processes, with the
 * checks beside them, keep two cores busy. With four a run took a sixth longer.
 */
const LANES = 3;
/**
 * Files after which a lane continues in a new process, because Jest keeps memory of every file that it has run. Each
 * process starts with eight seconds of CPU, for Jest, our sources and a Temporal server: two processes a lane take all
 * files.
 */
const FILES_OF_A_PROCESS = 96;
/**
 * MB that V8 has for new objects from the start; by default it begins with one and grows to sixteen. A lane outgrows
 * one at once, and would then be collected hundreds of times, by several threads in parallel.
 */
const YOUNG_MB = 16;
const totals = { passed: 0, failed: 0 };
/** Duration of every test file; each run lists the slowest. */
const durations = [];
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (stopped = true));

try {
  const node = await part('set-up', setUp);
  if (soak) await runSoaks(node);
  else if (filters.length > 0) await runPart(node, 'tests', filters);
  else await Promise.all([runChecks(node), runLanes(node)]);
} catch (error) {
  fail(error);
}
tellSlowest();
if (stopped) console.log('Stopped before the end.');
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed > 0 || stopped ? 1 : 0;

function fail(error) {
  if (stopped) return;
  totals.failed += 1;
  console.error(error.message);
}

function tellSlowest() {
  const slowest = durations.sort((one, other) => other.seconds - one.seconds).slice(0, 10);
  if (durations.length <= slowest.length) return;
  console.log('\n== the slowest files');
  for (const { path, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${path}`);
}

/** Runs a part under a heading and prints how long it took. */
async function part(name, work) {
  if (stopped) return undefined;
  console.log(`\n== ${name}`);
  const started = Date.now();
  const result = await work();
  console.log(`== ${name}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Returns the number of files that were run. */
async function runPart(node, name, which, env) {
  try {
    return (await part(name, () => runJest(node, name, which, env))) ?? 0;
  } catch (error) {
    fail(error);
    return 0;
  }
}

async function runLanes(node) {
  const claims = mkdtempSync(join(tmpdir(), 'everthread-claims-'));
  const which = [`--testSequencer=${join(ROOT, 'test', 'runner', 'mixed.cjs')}`];
  const env = { EVERTHREAD_TEST_CLAIMS: claims, EVERTHREAD_TEST_CLAIMS_AT_MOST: `${FILES_OF_A_PROCESS}` };
  const lane = async (_, index) => {
    const name = `tests, lane ${index + 1} of ${LANES}`;
    // A process that ran fewer files found no more to take, or has crashed: the other lanes continue.
    while ((await runPart(node, name, which, env)) === FILES_OF_A_PROCESS);
  };
  try {
    await Promise.all(Array.from({ length: LANES }, lane));
  } finally {
    rmSync(claims, { recursive: true, force: true });
  }
}

/** Runs each file as a separate part, so that none affects the next. */
async function runSoaks(node) {
  const output = execFileSync(node, [JEST, '--listTests', '--json', ...filters], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = JSON.parse(output).sort();
  if (files.length === 0)
    throw new Error(
      `There is no soak test${filters.length > 0 ? ` whose path contains ${filters.join(' or ')}` : ''}.`,
    );
  for (const [index, file] of files.entries())
    await runPart(node, `tests, part ${index + 1} of ${files.length}`, ['--runTestsByPath', file]);
}

/** Runs the checks beside the tests, as a separate lane. */
async function runChecks(node) {
  const tsc = 'node_modules/typescript/bin/tsc';
  await check('type check', node, [
    tsc,
    '-p',
    'tsconfig.json',
    '--noEmit',
    ...TSC_ALONE,
    '--incremental',
    '--tsBuildInfoFile',
    TYPES,
  ]);
  await check('type check of the page', node, [tsc, '-p', 'src/ui/tsconfig.json', '--noEmit', ...TSC_ALONE]);
  await check('lint', node, ['node_modules/@biomejs/biome/bin/biome', 'ci']);
  await check('licences', node, ['scripts/check-licences.mjs']);
}

function check(name, node, args) {
  return part(name, async () => {
    const code = await run(node, args, { env: { ...process.env, GOGC } });
    if (!stopped) totals[code === 0 ? 'passed' : 'failed'] += 1;
  });
}

async function runJest(node, name, which, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-test-'));
  const outputFile = join(folder, 'result.json');
  const note = join(folder, 'test-file');
  const unwatch = watchPart(name, note);
  try {
    const code = await run(
      node,
      [
        '--max-old-space-size=4096',
        // The other lanes keep the other cores busy: threads that help to collect garbage cost more than they save.
        '--single-threaded-gc',
        `--min-semi-space-size=${YOUNG_MB}`,
        // If a process crashes, the report shows where it was.
        '--report-on-fatalerror',
        `--report-directory=${folder}`,
        '--disable-warning=ExperimentalWarning',
        // Tests of the sandbox link modules by themselves.
        '--experimental-vm-modules',
        JEST,
        // One file after the other within a process.
        '--runInBand',
        '--json',
        `--outputFile=${outputFile}`,
        ...which,
      ],
      {
        stdio: ['inherit', 'ignore', 'inherit'],
        env: { ...process.env, ...env, EVERTHREAD_TEST_FILE_NOTE: note, NODE_COMPILE_CACHE: COMPILED },
      },
    );
    if (!existsSync(outputFile)) {
      if (!stopped) totals.failed += 1;
      const file = readNote(note);
      const at = file ? relative(ROOT, file) : 'its set-up';
      console.error(`Jest ended with exit code ${code} at ${at}, and told no results.${readReport(folder)}`);
      return;
    }
    const result = JSON.parse(readFileSync(outputFile, 'utf8'));
    totals.passed += result.numPassedTests;
    for (const { name: path, startTime, endTime } of result.testResults)
      durations.push({ path: relative(ROOT, path), seconds: (endTime - startTime) / 1000 });
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    // Jest can also fail as a whole, such as in its global set-up.
    totals.failed += failed === 0 && code !== 0 ? 1 : failed;
    if (result.numPendingTests > 0) console.log(`${result.numPendingTests} skipped`);
    return result.testResults.length;
  } finally {
    unwatch();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns Node's report of a process that crashed; empty if there is none, such as after a kill. */
function readReport(folder) {
  const name = readdirSync(folder).find((file) => file.startsWith('report.'));
  if (!name) return '';
  const { header, javascriptStack } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  return [
    `\n${header.trigger}: ${header.event}`,
    javascriptStack?.message,
    ...(javascriptStack?.stack ?? []),
  ].join('\n');
}
