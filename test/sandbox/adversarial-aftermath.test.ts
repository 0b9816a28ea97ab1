/**
 * What remains of a run that has ended: its thread, its functions, its promises. Each of these was a security hole
 * once.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { createSandbox, SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/long-form.ts';
import { isAlive } from '../support/process-tree.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';
import { listenForAlarms } from './escape-harness.ts';

const MIB = 1024 * 1024;

const sandbox = createSandbox({ size: 2 });
const alarm = listenForAlarms();
afterAll(async () => {
  await sandbox.close();
  alarm.off();
});

const { runCode } = sandbox.scope();
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
const growth = async (work: () => PromiseLike<unknown>): Promise<number> => {
  const before = process.memoryUsage.rss();
  await work();
  return (process.memoryUsage.rss() - before) / MIB;
};

/** Code that neither an interrupt nor `dispose` stops. */
const BUSY = 'const t = "\\u0344\\u1e69".repeat(2e6); for (;;) t.normalize("NFD");';

describe('a run that has ended', () => {
  it.each([
    ['told to end', `begin(); ${BUSY}`],
    [
      'settled',
      `begin(); export default 1; (async () => { for (let i = 0; i < 50; i++) await null; ${BUSY} })();`,
    ],
  ])('adversarial 13: leaves no child busy in a built-in when it was %s', async (how, source) => {
    const own = createSandbox({ size: 1 });
    const strangers = sandboxChildren();
    let begun = false;
    const begin = () => {
      begun = true;
    };
    const run = own.scope().runCode(source, { globals: { begin }, memoryLimitBytes: 256 * MIB });
    await eventually('the run begins', () => begun);
    const mine = sandboxChildren().filter((pid) => !strangers.includes(pid))[0] as number;
    if (how === 'told to end') run.terminate();
    expect((await run).status).toBe(how === 'settled' ? 'success' : 'terminated');
    await eventually('its child is gone', () => !isAlive(mine));
    expect((await own.scope().runCode('export default 2')).result).toBe(2);
    await own.close();
  });
});

describe('functions without a waiting caller', () => {
  it('adversarial 18: an error of an unawaited callback does not reach the worker', async () => {
    const call = (fn: () => unknown) => {
      void fn();
      return 'called';
    };
    for (const body of [
      'throw new Error("x")',
      'return new Promise(() => {})',
      'return Symbol()',
      'for (;;);',
    ]) {
      const run = runCode(`export default await call(() => { ${body} })`, { globals: { call } });
      if (body === 'for (;;);') run.terminate();
      await run;
    }
    await turn();
    expect(alarm.heard()).toEqual([]);
  });

  it('adversarial 18: a report that fails, at once or later, is logged and does not end the run', async () => {
    for (const report of [
      () => {
        throw new Error('at once');
      },
      async () => {
        await null;
        throw new Error('later');
      },
    ]) {
      const { status, logs } = await runCode('report(1); await host(); export default 1', {
        report,
        globals: { host: turn },
      });
      expect(status).toBe('success');
      expect(logs).toMatchObject([
        { level: 'error', args: [expect.stringMatching(/options.report threw: (at once|later)/)] },
      ]);
    }
    await turn();
    expect(alarm.heard()).toEqual([]);
  });

  it('adversarial 13: a result function that never ends, or exhausts memory, ends with its scope', async () => {
    const own = createSandbox({ size: 1 });
    const scope = own.scope();
    const source =
      'export default { loop: () => { for (;;); }, eat: () => { const a = []; for (;;) a.push([a.length]) }, fine: () => 1 }';
    const [first, second] = await Promise.all([
      scope.runCode(source),
      scope.runCode(source, { memoryLimitBytes: 16 * MIB }),
    ]);
    const held = first.result as Record<string, () => Promise<unknown>>;
    expect(await held.fine?.()).toBe(1);
    const looping = held.loop?.();
    await expect((second.result as typeof held).eat?.()).rejects.toThrow(/has ended/);
    scope.close();
    await expect(looping).rejects.toThrow(/ended/);
    await expect(held.fine?.()).rejects.toThrow(/ended/);
    await turn();
    expect(alarm.heard()).toEqual([]);
    await own.close();
  });
});

/**
 * Number of logged arrays. In the short form, eight bytes per hole would be five times the allowed growth of the
 * worker.
 */
const LOGS = isLong ? 200 : 40;
/** Number of calls with 4 MB each: in the short form twice as many as may be in flight. */
const CALLS = isLong ? 40 : 16;

describe('memory held by the worker for a run', () => {
  it('adversarial 15: sparse arrays cost the worker no more than their declared size', async () => {
    const grown = await growth(async () => {
      const { status, logs, result } = await runCode(
        `for (let i = 0; i < ${LOGS}; i++) console.log(new Array(990_000)); export default new Array(990_000)`,
      );
      expect(status).toBe('success');
      expect(logs).toHaveLength(LOGS);
      expect(result).toHaveLength(990_000);
      expect(Object.keys(result as unknown[])).toEqual([]);
    });
    expect(grown).toBeLessThan(64);
  });

  it.each([
    ['errors', 'new Error("")', 20_000],
    ['maps', 'new Map()', 60_000],
    ['views', 'new Uint8Array(0)', 60_000],
  ])('adversarial 15: reports of %s count at their real size', async (_, part, length) => {
    const grown = await growth(async () => {
      const source = `const all = Array.from({ length: ${length} }, () => ${part}); for (;;) report(all)`;
      const { status } = await runCode(source, { report: () => undefined, memoryLimitBytes: 256 * MIB });
      expect(status).toBe('terminated');
    });
    expect(grown).toBeLessThan(128);
  });

  it('adversarial 14: pending calls to a slow worker carry at most the limit', async () => {
    let carried = 0;
    let most = 0;
    const slow = async (text: string) => {
      carried += text.length;
      most = Math.max(most, carried);
      await turn();
      carried -= text.length;
    };
    const source = `
      const text = 'x'.repeat(4e6), all = [];
      for (let i = 0; i < ${CALLS}; i++) { all.push(slow(text)); await tick(); await tick(); }
      export default (await Promise.all(all)).length`;
    const { result } = await runCode(source, {
      globals: { slow, tick: () => 1 },
      memoryLimitBytes: 256 * MIB,
    });
    expect(result).toBe(CALLS);
    expect(most).toBeLessThanOrEqual(SANDBOX_LIMITS.callsInFlightBytes);
  });

  it('adversarial 15: a log nested too deeply is shown to the limit', async () => {
    const { status, logs } = await runCode(
      'let a = 1; for (let i = 0; i < 600; i++) a = [a]; console.log(a); export default 1',
    );
    expect(status).toBe('success');
    expect(JSON.stringify(logs)).toContain('[Too deep]');
  });
});
