/** Tests of the test runner: any failure in a file, wherever and whenever it happens, is reported as failed. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type JestReport, runJest } from './jest-process.ts';

const ANEW = new URL('./loaded-anew.ts', import.meta.url).href;
/** A module of the sources: loaded once for all files. */
const ONCE = new URL('../../src/core/value/limit.ts', import.meta.url).href;

/** A file's source, its expected status, a part of its message, and the expected status of its tests. */
type Case = readonly [source: string, status: string, message: string, tests?: Record<string, string>];

const TIMEOUT_MS = 300;
const HEARS_LATER = `it('ok', () => { process.nextFileIsThere = true; return new Promise((r) => setTimeout(r, 100)); });`;
const ok = "it('ok', () => {});";

/** Files that are run in the order of their names, in one process. */
const FILES: Readonly<Record<string, Case>> = {
  'a test passes': [ok, 'passed', '', { ok: 'passed' }],
  'a test fails': [
    `${ok} it('no', () => expect(1).toBe(2));`,
    'failed',
    'toBe',
    { ok: 'passed', no: 'failed' },
  ],
  'a test promises assertions': [
    "it('no', () => { expect.assertions(1); }); it('ok', () => { expect.assertions(1); expect(1).toBe(1); });",
    'failed',
    'expect.assertions(1)',
    { no: 'failed', ok: 'passed' },
  ],
  'a test never ends': [
    `it('no', () => new Promise(() => setTimeout(() => {}, 5000)), ${TIMEOUT_MS}); ${ok}`,
    'failed',
    `Exceeded timeout of ${TIMEOUT_MS} ms`,
    { no: 'failed', ok: 'passed' },
  ],
  'a hook never ends': [
    `beforeEach(() => new Promise(() => setTimeout(() => {}, 5000)), ${TIMEOUT_MS}); ${ok}`,
    'failed',
    'for a hook',
    { ok: 'failed' },
  ],
  'beforeAll fails': [
    `describe('a', () => { beforeAll(() => { throw new Error('from beforeAll') }); ${ok} }); it('other', () => {});`,
    'failed',
    'from beforeAll',
    { 'a ok': 'failed', other: 'passed' },
  ],
  'afterEach fails': [
    `afterEach(() => { throw new Error('from afterEach') }); ${ok}`,
    'failed',
    'from afterEach',
    { ok: 'failed' },
  ],
  'afterAll fails': [
    `afterAll(() => { throw new Error('from afterAll') }); ${ok}`,
    'failed',
    'from afterAll',
    { ok: 'passed' },
  ],
  'the module throws': [`${ok} throw new Error('while loading');`, 'failed', 'while loading', {}],
  'the module throws no error': [`${ok} throw 'a text';`, 'failed', 'a text', {}],
  'the module rejects': [`${ok} await Promise.reject(new Error('awaited'));`, 'failed', 'awaited', {}],
  'a describe throws': [
    `${ok} describe('a', () => { throw new Error('in describe') });`,
    'failed',
    'in describe',
    {},
  ],
  'an import is missing': [`import './nowhere.js'; ${ok}`, 'failed', 'nowhere.js', {}],
  'the syntax is wrong': [`${ok} const = 1;`, 'failed', 'SyntaxError', {}],
  'there is no test': ['export {};', 'failed', 'must contain at least one test', {}],
  'tests are skipped': [
    `describe.skip('a', () => { beforeAll(() => { throw new Error('not run') }); ${ok} }); it.skip('b', () => { throw 1 }); it.todo('c'); ${ok}`,
    'focused',
    '',
    { 'a ok': 'pending', b: 'pending', c: 'todo', ok: 'passed' },
  ],
  'one has the focus': [
    `it.only('b', () => {}); it('no', () => { throw 1 });`,
    'focused',
    '',
    { b: 'passed', no: 'pending' },
  ],
  'a rejection in a test': [
    `it('no', async () => { void Promise.reject(new Error('not handled')); await new Promise((r) => setTimeout(r, 5)) }); ${ok}`,
    'failed',
    'not handled',
    { no: 'failed', ok: 'passed' },
  ],
  'a rejection as a test ends': [
    `it('no', () => { void Promise.reject(new Error('not handled')) });`,
    'failed',
    'not handled',
    { no: 'failed' },
  ],
  'a rejection that is handled later': [
    `it('ok', async () => { const p = Promise.reject(new Error('late')); await new Promise((r) => setTimeout(r, 5)); await p.catch(() => {}); await new Promise(setImmediate) });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
  'a rejection in beforeAll': [
    `beforeAll(() => { void Promise.reject(new Error('not handled')) }); ${ok}`,
    'failed',
    'not handled',
    { ok: 'failed' },
  ],
  'a rejection in afterAll': [
    `afterAll(() => { void Promise.reject(new Error('not handled')) }); ${ok}`,
    'failed',
    'not handled',
    { ok: 'passed' },
  ],
  'a rejection while loading': [
    `void Promise.reject(new Error('not handled')); ${ok}`,
    'failed',
    'not handled',
    { ok: 'passed' },
  ],
  'a throw in a timer': [
    `it('no', async () => { setTimeout(() => { throw new Error('in a timer') }); await new Promise((r) => setTimeout(r, 20)) });`,
    'failed',
    'in a timer',
    { no: 'failed' },
  ],
  'a throw in a timer of an earlier test': [
    `it('no', () => { setTimeout(() => { throw new Error('in a timer') }, 5) }); it('ok', () => new Promise((r) => setTimeout(r, 50)));`,
    'failed',
    'in a timer',
  ],
  // These throw as soon as the next file signals that it runs.
  'later 1: leaves what throws': [
    `it('ok', () => {
       const timer = setInterval(() => {
         if (!process.nextFileIsThere) return;
         clearInterval(timer);
         throw new Error('too late');
       });
     });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
  'later 2: hears of the throw': [HEARS_LATER, 'failed', 'too late\n'],
  'later 3: leaves what rejects': [
    `it('ok', () => {
       process.nextFileIsThere = false;
       const timer = setInterval(() => {
         if (!process.nextFileIsThere) return;
         clearInterval(timer);
         void Promise.reject(new Error('rejected late'));
       });
     });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
  'later 4: hears of the rejection': [HEARS_LATER, 'failed', 'rejected late'],
  'left 1: much': [
    `it('ok', () => {
       process.on('SIGTERM', () => {}); process.once('uncaughtException', () => {});
       process.exitCode = 7; process.chdir('..'); globalThis.fetch = 2; process.env.LEFT = '1';
       jest.setTimeout(1);
     });`,
    'failed',
    "left behind: 1 listeners of the process for 'uncaughtException', 1 listeners of the process for 'SIGTERM', the global fetch, the exit code 7, another working directory",
    { ok: 'passed' },
  ],
  'left 2: nothing of it is there': [
    `it('ok', async () => {
       expect([process.listenerCount('SIGTERM'), process.exitCode, typeof fetch, process.env.LEFT]).toEqual(
         [0, undefined, 'function', undefined]);
       expect(process.cwd()).toBe(import.meta.dirname);
       await new Promise((r) => setTimeout(r, 20));
     });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
  'listeners of a module stay': [`process.on('SIGUSR2', () => {}); ${ok}`, 'passed', '', { ok: 'passed' }],
  'module 1': [
    `import { met } from '${ANEW}'; import * as once from '${ONCE}'; it('ok', () => { met.push('one'); globalThis.process.metOnce = once; });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
  'module 2': [
    `import { met } from '${ANEW}'; import * as once from '${ONCE}'; it('ok', () => { expect(met).toEqual([]); expect(process.metOnce).toBe(once); });`,
    'passed',
    '',
    { ok: 'passed' },
  ],
};

const numbered = Object.keys(FILES).map((name, index) => [name, `${100 + index} ${name}`] as const);
const nameOf = new Map(numbered);

describe('a test file', () => {
  let report: JestReport;

  beforeAll(async () => {
    report = await runJest(
      Object.fromEntries(numbered.map(([name, file]) => [file, (FILES[name] as Case)[0]])),
    );
  });

  it.each(Object.entries(FILES))('in which %s is reported as such', (name, [, status, message, tests]) => {
    const file = report.files[nameOf.get(name) as string];
    expect(`${file?.status}: ${file?.message}`).toMatch(new RegExp(`^${status}: `));
    expect(file?.message).toContain(message);
    if (tests) expect(file?.tests).toEqual(tests);
  });

  it('that fails fails the run', () => {
    expect(Object.keys(report.files)).toHaveLength(numbered.length);
    expect(report.code).toBe(1);
  });
});

describe('a run', () => {
  it('restricted to a name skips the rest, hooks too', async () => {
    const { code, files } = await runJest(
      {
        a: "it('one', () => {}); it('two', () => { throw 1 });",
        b: "beforeAll(() => { throw 1 }); it('two', () => { throw 1 });",
      },
      '-t=one',
    );
    expect(code).toBe(0);
    expect([files.a?.tests, files.b?.tests]).toEqual([{ one: 'passed', two: 'pending' }, { two: 'pending' }]);
  });

  it('that a file exits early fails', async () => {
    const { code, said } = await runJest({ a: "it('a', () => process.exit(0));" });
    expect(code).not.toBe(0);
    expect(said).toContain('The process has ended while');
  });

  it('with an error thrown afterwards fails', async () => {
    const { code, said } = await runJest({
      a: `${ok} afterAll(() => { process.nextTick(() => setImmediate(() => setImmediate(() => { throw new Error('the last word') }))) });`,
    });
    expect(code).not.toBe(0);
    expect(said).toContain('the last word');
  });
});
