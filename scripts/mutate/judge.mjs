/**
 * Runs the named tests on a tree. Only a failed test makes the result red; a file that does not load, tests that do not
 * end, or words that select no test are inconclusive.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

const WITHIN_MS = 10 * 60_000;
const TEST_TIMEOUT_MS = 60_000;

/** Resolves to `{ state: 'green' }`, `{ state: 'red', by, why }` or `{ state: 'silent', why }`. */
export async function runTests(node, copy, { tests, title, server = false }, signal) {
  mkdirSync(copy.scratch, { recursive: true });
  const folder = mkdtempSync(join(copy.scratch, 'run-'));
  const outputFile = join(folder, 'result.json');
  // Jest must end even if a mutation leaves work running.
  const args = [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    ...[
      'node_modules/jest/bin/jest.js',
      '--runInBand',
      '--forceExit',
      '--json',
      `--outputFile=${outputFile}`,
    ],
    `--testTimeout=${TEST_TIMEOUT_MS}`,
    ...(server ? [] : ['--globalSetup=', '--globalTeardown=']),
    ...(title === undefined ? [] : [`--testNamePattern=${title}`]),
    ...['--runTestsByPath', ...tests],
  ];
  const env = { ...process.env, TMPDIR: folder, EVERTHREAD_TEST_FOLDER: folder };
  const { said, late } = await runNicely(node, args, { cwd: copy.root, env, signal });
  if (late) return { state: 'silent', why: `the tests did not end within ${WITHIN_MS / 60_000} minutes` };
  if (!existsSync(outputFile)) return { state: 'silent', why: `Jest told no results: ${said.slice(-2000)}` };
  return judge(JSON.parse(readFileSync(outputFile, 'utf8')));
}

/** Type-checks a tree's sources; resolves to the output of the check, or to undefined if they pass. */
export async function checkTypes(node, copy, signal) {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noEmit'];
  const { code, said } = await runNicely(node, args, { cwd: copy.root, env: process.env, signal });
  return code === 0 ? undefined : said;
}

function judge({ testResults, success }) {
  const unloaded = testResults.find(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  if (unloaded) return { state: 'silent', why: `a file did not load: ${firstLines(unloaded.message)}` };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (!tests.some(({ status }) => status === 'passed' || status === 'failed'))
    return { state: 'silent', why: 'no test ran' };
  if (success) return { state: 'green' };
  const failed = tests.filter(({ status }) => status === 'failed');
  if (failed.length === 0)
    return { state: 'silent', why: firstLines(testResults.find(({ message }) => message).message) };
  return {
    state: 'red',
    by: failed.map(({ fullName }) => fullName),
    why: firstLines(failed[0].failureMessages.join('\n')),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal.
const COLOUR = /\u001b\[\d+m/g;

function firstLines(text) {
  const lines = text
    .replace(COLOUR, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.slice(0, 8).join('\n').slice(0, 800);
}

/** Runs a command with low priority in its own process group, all of which ends at the time limit or the signal. */
function runNicely(command, args, { cwd, env, signal }) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    let said = '';
    let late = false;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        said = (said + text).slice(-20_000);
      });
    const end = () => endGroup(child);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, WITHIN_MS);
    signal.addEventListener('abort', end);
    child.on('error', reject);
    child.on('spawn', () => setPriority(child.pid, constants.priority.PRIORITY_LOW));
    child.on('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      else resolve({ code, said, late });
    });
  });
}

function endGroup({ pid }) {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
