/** What happens to the children of a sandbox: killed, out of memory, worn out, closed, idle. Linux only. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/long-form.ts';
import { isAlive, isAtRest } from '../support/process-tree.ts';
import { sandboxChildren, sandboxProcesses } from '../support/sandbox-children.ts';
import { gate, openSandbox, statusOf } from './own-sandbox.ts';

const INDEX = new URL('../../src/sandbox/index.ts', import.meta.url).href;

/**
 * The child that was given the first run. The spare must not be killed instead: it could be given the next run before
 * its death is noticed.
 */
const oldestChild = () => sandboxChildren()[0] as number;

describe('the children of a sandbox', () => {
  it('that are killed end their run as an error, and the next run finds another', async () => {
    const { runCode } = openSandbox(1);
    const { wait, reached } = gate();
    const run = runCode('await wait()', { globals: { wait } });
    const queued = runCode('export default 2');
    await reached;
    const pid = oldestChild();
    process.kill(pid, 'SIGKILL');
    expect(await run).toMatchObject({
      status: 'error',
      error: { name: 'SandboxCrashed', message: expect.stringContaining('SIGKILL') },
    });
    expect(await queued).toMatchObject({ status: 'success', result: 2 });
    expect(sandboxChildren()).not.toContain(pid);
  });

  it('reject calls to functions of a result once they are killed', async () => {
    const { runCode } = openSandbox(1);
    const { result } = await runCode('export default { never: () => new Promise(() => {}) }');
    const { never } = result as { never(): Promise<unknown> };
    const underWay = expect(never()).rejects.toThrow('has ended');
    process.kill(oldestChild(), 'SIGKILL');
    await underWay;
    await expect(never()).rejects.toThrow('has ended');
    expect((await runCode('export default 1')).result).toBe(1);
  });

  it.each([
    ['by the engine', 'const all = []; for (;;) all.push(new Array(1000).fill(1));'],
    ['by death', 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });'],
  ])('that ran out of memory, ended %s, are replaced', async (_, source) => {
    const { runCode } = openSandbox(1);
    const { wait, reached, open: letGo } = gate();
    const run = runCode(`await wait(); ${source}`, { globals: { wait }, memoryLimitBytes: 16 * 1024 * 1024 });
    await reached;
    const pids = sandboxChildren();
    letGo();
    expect(statusOf(await run)).toBe('memory MemoryError');
    const results = await Promise.all([1, 2, 3].map((n) => runCode(`export default ${n}`)));
    expect(results.map(({ result }) => result)).toEqual([1, 2, 3]);
    await eventually('the one that ran out is gone', () => !pids.every(isAlive));
  });

  it('serve many runs, and are replaced after a maximum', async () => {
    const { runCode } = openSandbox(1);
    const served = new Set<number>();
    const run = async () => {
      const { wait, reached, open: letGo } = gate();
      const running = runCode('export default await wait()', { globals: { wait } });
      await reached;
      for (const pid of sandboxChildren()) served.add(pid);
      letGo();
      expect(statusOf(await running)).toBe('success');
    };
    for (let runs = 0; runs < 6; runs += 1) {
      await run();
      await eventually(
        'both rest',
        () => sandboxChildren().length === 2 && sandboxChildren().every(isAtRest),
      );
    }
    // Two children, unless one rested so late on a busy machine that it was replaced.
    expect(served.size).toBeGreaterThanOrEqual(2);
    expect(served.size).toBeLessThan(4);
    const before = served.size;
    // Each child serves at most its number of runs. The long form goes on after the first replacement.
    const goesOn = () => isLong || served.size === before;
    for (let runs = 0; runs < 2 * SANDBOX_LIMITS.runsPerChild && goesOn(); runs += 1) await run();
    expect(served.size).toBeGreaterThan(before);
    expect(served.size).toBeLessThan(20);
  });

  it('are gone after close: running and queued runs end, later ones are refused', async () => {
    const { sandbox, runCode } = openSandbox(1);
    const { wait, reached } = gate();
    const held = await runCode('export default () => () => 1');
    const run = runCode('await wait()', { globals: { wait } });
    const queued = runCode('export default 1');
    await reached;
    const pids = sandboxChildren();
    expect(pids.length).toBeGreaterThanOrEqual(2);
    await sandbox.close();
    // No child remains, not even as a zombie.
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(sandboxProcesses()).toEqual([]);
    const closed = { status: 'error', error: { name: 'SandboxCrashed' } };
    expect([await run, await queued, await runCode('export default 1')]).toMatchObject([
      closed,
      closed,
      closed,
    ]);
    expect((await queued).error?.message).toContain('the sandbox is closed');
    await expect((held.result as () => Promise<unknown>)()).rejects.toThrow('has ended');
    expect(sandboxProcesses()).toEqual([]);
    await sandbox.close();
  });

  it('that are idle do not keep a process alive, and end with it', async () => {
    const code = `
      import { readFileSync } from 'node:fs';
      import { createSandbox } from ${JSON.stringify(INDEX)};
      const { result } = await createSandbox().scope().runCode('export default 6 * 7');
      const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ').map(Number);
      console.log(JSON.stringify({ result, children }));`;
    const script = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    script.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    const deadline = setTimeout(() => script.kill('SIGKILL'), 120_000);
    const exitCode = await new Promise((resolve) => script.once('close', resolve));
    clearTimeout(deadline);
    expect(exitCode).toBe(0);
    const { result, children } = JSON.parse(told) as { result: number; children: number[] };
    expect(result).toBe(42);
    expect(children.length).toBeGreaterThanOrEqual(1);
    await eventually('its children are gone', () => !children.some(isAlive));
  });
});
