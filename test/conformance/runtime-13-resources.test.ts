/** runtime §13.4: memory, termination and caps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CodeExecution, CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox, SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { terminateNow } from '../sandbox/terminate-now.ts';
import { failureOf, resultOf, runCode, runOnce } from '../support/sandbox.ts';

const MIB = 1024 * 1024;
/** The bound of §13.4.2, in milliseconds of work, since a handle settles without waiting for anything. */
const SETTLE_MS = 50;
const GROW = 'const all = []; for (;;) all.push(new Array(1000).fill(all.length));';

/** `began` resolves when the program has called `began()`, or when the run has ended. */
function begun(source: string, how: typeof runCode = runCode): { run: CodeExecution; began: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = how(source, { globals: { began: () => resolve() }, language: 'javascript' });
  return { run, began: Promise.race([promise, run.then(() => undefined)]) };
}

/** A run of six seconds, in another place of the pool, which goes on beside the tests so that none waits for it. */
let patient: Promise<CodeExecutionResult>;
beforeAll(() => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 1500));
  const source = `
    const begun = Date.now();
    while (Date.now() - begun < 3000);
    await wait();
    await wait();
    export default Date.now() - begun >= 5900;`;
  patient = runOnce(source, { globals: { wait } });
});

describe('runtime §13.4 Resource Enforcement', () => {
  it.each([
    ['8 MiB', 8 * MIB],
    ['32 MiB', 32 * MIB],
  ])('[runtime 13.4.1] ends a program that exceeds its limit of %s', async (_, memoryLimitBytes) => {
    expect(await failureOf(GROW, { memoryLimitBytes })).toEqual({
      status: 'memory',
      name: 'MemoryError',
      message: expect.stringContaining(`${memoryLimitBytes} bytes`),
    });
  });

  it('[runtime 13.4.1] applies the requested limit: a larger one fits what a smaller does not', async () => {
    const source = 'export default Array.from({ length: 150 }, () => new Array(20_000).fill(0.5)).length';
    expect(await failureOf(source, { memoryLimitBytes: 10 * MIB })).toMatchObject({ status: 'memory' });
    expect(await resultOf(source, { memoryLimitBytes: 128 * MIB })).toBe(150);
  });

  it('[runtime 13.4.1] has a default, and a ceiling to which larger requests are clamped', async () => {
    const { memoryDefault, memoryCeiling } = SANDBOX_LIMITS;
    expect((await failureOf(GROW)).message).toContain(`${memoryDefault} bytes`);
    const failure = await failureOf(GROW, { memoryLimitBytes: 64 * memoryCeiling });
    expect(failure).toMatchObject({ status: 'memory' });
    expect(failure.message).toContain(`${memoryCeiling} bytes`);
  });

  it('[runtime 13.4.1] default, ceiling and clamping are documented', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'sandbox.md'), 'utf8');
    const { memoryDefault, memoryFloor, memoryCeiling } = SANDBOX_LIMITS;
    const figures = [memoryDefault, memoryFloor, memoryCeiling]
      .map((bytes) => `${bytes / MIB} MiB`)
      .join(', ');
    expect(page).toContain(`| default, floor, ceiling | ${figures} of heap |`);
    expect(page).toMatch(/\| above the ceiling \| clamped .*`memory`.*effective limit/);
  });

  it.each([
    ['an endless loop', 'await began(); for (;;);'],
    ['a loop that catches everything', 'await began(); for (;;) { try { throw 1 } catch {} }'],
    ['an endless row of microtasks', 'await began(); for (;;) await null;'],
    ['a promise that never settles', 'await began(); await new Promise(() => {});'],
    ['a regular expression that backtracks', 'await began(); /^(a+)+$/.test("a".repeat(50) + "!");'],
    ['a flood of calls', 'for (;;) void began();'],
  ])('[runtime 13.4.2] terminate ends %s within 50 ms', async (_, source) => {
    const { run, began } = begun(source);
    await began;
    expect(run.running).toBe(true);
    const { result, workMs } = await terminateNow(run, 'enough');
    expect(result).toMatchObject({ status: 'terminated', error: { name: 'Terminated', message: 'enough' } });
    expect(run.running).toBe(false);
    expect(workMs).toBeLessThan(SETTLE_MS);
  });

  it('[runtime 13.4.2] terminate ends a run while a function of the host works for it', async () => {
    const asked = Promise.withResolvers<void>();
    const never = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const run = runCode('export default await never()', { globals: { never } });
    await asked.promise;
    const { result, workMs } = await terminateNow(run, 'enough');
    expect(result).toMatchObject({ status: 'terminated' });
    expect(workMs).toBeLessThan(SETTLE_MS);
  });

  it('[runtime 13.4.2] terminate right after the call ends a run that has not begun', async () => {
    const run = runCode('for (;;);');
    const { result, workMs } = await terminateNow(run, 'changed my mind');
    expect(result).toMatchObject({ status: 'terminated', error: { message: 'changed my mind' } });
    expect(workMs).toBeLessThan(SETTLE_MS);
  });

  it('[runtime 13.4.2] terminate is idempotent: only the first call counts, and none after the end', async () => {
    const { run, began } = begun('await began(); for (;;);');
    await began;
    run.terminate('first');
    run.terminate('second');
    expect((await run).error?.message).toBe('first');
    run.terminate('third');
    expect((await run).error?.message).toBe('first');
    const done = runCode('export default 1');
    expect((await done).status).toBe('success');
    done.terminate('late');
    expect(await done).toMatchObject({ status: 'success', result: 1 });
  });

  it('[runtime 13.4.2] terminate without a reason has a default message', async () => {
    const { run, began } = begun('await began(); for (;;);');
    await began;
    run.terminate();
    expect((await run).error).toEqual({ name: 'Terminated', message: 'The run was terminated.' });
  });

  it('[runtime 13.4.2] a terminated program makes no more calls, and its slot is free', async () => {
    const sandbox = createSandbox({ size: 1 });
    const own = sandbox.scope();
    let calls = 0;
    const tick = () => {
      calls += 1;
    };
    try {
      const run = own.runCode('for (;;) await tick()', { globals: { tick } });
      while (calls < 3) await new Promise((resolve) => setImmediate(resolve));
      run.terminate();
      const before = calls;
      expect(await own.runCode('export default 1')).toMatchObject({ status: 'success', result: 1 });
      expect(calls).toBe(before);
    } finally {
      await sandbox.close();
    }
  });

  it('[runtime 13.4.3] a cap that is reached ends the run as terminated, and is named', async () => {
    const { status, error, reports } = await runOnce('for (let i = 0; ; i++) report(i)', {
      report: () => undefined,
      language: 'javascript',
    });
    expect({ status, name: error?.name }).toEqual({ status: 'terminated', name: 'Terminated' });
    expect(error?.message).toContain(`${SANDBOX_LIMITS.reportEntries} values`);
    expect(reports).toHaveLength(SANDBOX_LIMITS.reportEntries);
    expect(reports.at(-1)).toBe(SANDBOX_LIMITS.reportEntries - 1);
  });

  it('[runtime 13.4.4] no timeout ends a run: it computes and waits as long as it needs', async () => {
    const { status, result, durationMs } = await patient;
    expect({ status, result }).toEqual({ status: 'success', result: true });
    expect(durationMs).toBeGreaterThan(5900);
    expect(Object.keys(SANDBOX_LIMITS).filter((name) => /timeout|deadline|wall/i.test(name))).toEqual([]);
  });
});
