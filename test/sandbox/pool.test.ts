/** The queue for the children of a sandbox: who waits, who is served out of turn, who is refused. */
import { describe, expect, it } from '@jest/globals';
import { SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { gate, openSandbox, shareSandbox, statusOf } from './own-sandbox.ts';

const ENDED = 'The work that the sandbox run belonged to has ended.';

const one = shareSandbox(1);
const two = shareSandbox(2);

describe('the queue of the pool', () => {
  it.each([
    [1, one],
    [2, two],
  ])('runs at most %i at a time, the others in order of arrival', async (size, { runCode }) => {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    const globals = {
      begin: (n: number) => {
        begun.push(n);
        running += 1;
        most = Math.max(most, running);
      },
      end: () => {
        running -= 1;
      },
    };
    const runs = [1, 2, 3, 4, 5, 6].map((n) =>
      runCode(`await begin(${n}); await end(); export default ${n};`, { globals }),
    );
    const results = await Promise.all(runs);
    expect(results.map(({ result }) => result)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(begun.toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
    if (size === 1) expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
    expect(most).toBeLessThanOrEqual(size);
  });

  it('runs as many concurrently as its size', async () => {
    const { runCode } = two;
    const gates = [gate(), gate()];
    const runs = gates.map(({ wait }) => runCode('await wait(); export default 1;', { globals: { wait } }));
    await Promise.all(gates.map(({ reached }) => reached));
    for (const { open: letGo } of gates) letGo();
    expect((await Promise.all(runs)).map(statusOf)).toEqual(['success', 'success']);
  });

  it('reserves the spare for nested runs: a queued run does not get it', async () => {
    const { runCode } = one;
    const begun: string[] = [];
    const begin = (name: string) => void begun.push(name);
    const { wait, reached, open: letGo } = gate();
    const source = (name: string) => `await begin('${name}'); export default 1;`;
    const nest = async () => {
      await wait();
      await runCode(source('nested'), { globals: { begin } });
      await runCode(source('nested again'), { globals: { begin } });
    };
    const first = runCode('await nest(); export default 1;', { globals: { nest } });
    await reached;
    const waiting = runCode(source('waiting'), { globals: { begin } });
    letGo();
    expect([await first, await waiting].map(statusOf)).toEqual(['success', 'success']);
    expect(begun).toEqual(['nested', 'nested again', 'waiting']);
  });

  it('lets a waiting run be terminated, and continues with the next', async () => {
    const { runCode } = one;
    const first = gate();
    const begun: string[] = [];
    const globals = { wait: first.wait, begin: (name: string) => void begun.push(name) };
    const begins = runCode('await wait(); export default 1;', { globals });
    await first.reached;
    const waits = runCode("await begin('two');", { globals });
    const follows = runCode("await begin('three'); export default 3;", { globals });
    waits.terminate('not needed any more');
    expect(await waits).toMatchObject({ status: 'terminated', error: { message: 'not needed any more' } });
    expect([begins.running, follows.running]).toEqual([true, true]);
    first.open();
    expect([await begins, await follows]).toMatchObject([{ result: 1 }, { result: 3 }]);
    expect(begun).toEqual(['three']);
  });
});

describe('runs outside the pool', () => {
  it('started inside a bridged function do not wait for the run that waits for them', async () => {
    const { runCode } = one;
    const descend = async (depth: number): Promise<unknown> => {
      if (depth === 0) return 'the bottom';
      const run = runCode(`export default ['level ${depth}', await descend(${depth - 1})]`, {
        globals: { descend },
      });
      const { result, error } = await run;
      return result ?? error;
    };
    expect(await descend(4)).toEqual(['level 4', ['level 3', ['level 2', ['level 1', 'the bottom']]]]);
  });

  it('keep functions of a result callable until the scope closes, then reject', async () => {
    const { scope } = openSandbox(1);
    const { result } = await scope.runCode(
      'let n = 0; export default { next: () => ++n, never: () => new Promise(() => {}) }',
    );
    const { next, never } = result as Record<'next' | 'never', () => Promise<unknown>>;
    expect(await next()).toBe(1);
    expect((await scope.runCode('export default 1')).result).toBe(1);
    expect(await next()).toBe(2);
    const underWay = expect(never()).rejects.toThrow(ENDED);
    scope.close();
    await underWay;
    await expect(next()).rejects.toThrow(ENDED);
    expect(await scope.runCode('export default 1')).toMatchObject({
      status: 'terminated',
      error: { name: 'Terminated', message: ENDED },
    });
  });

  it('release a child whose result has no functions: functions passed earlier reject', async () => {
    const { runCode } = one;
    let kept: (() => Promise<unknown>) | undefined;
    const keep = (fn: () => Promise<unknown>) => {
      kept = fn;
      return fn();
    };
    expect((await runCode('export default await keep(() => 7)', { globals: { keep } })).result).toBe(7);
    await expect(kept?.()).rejects.toThrow('The sandbox run that this function belongs to has ended.');
  });

  it('are at most 16; one more gets a busy error, and closing frees them', async () => {
    // Each of them needs a separate process: with size 4, several start at the same time.
    const { sandbox, runCode } = openSandbox(4);
    const holder = sandbox.scope();
    const source = 'export default () => 1';
    const held = await Promise.all(
      // A function in a function, since an exported function is called for its result.
      Array.from({ length: SANDBOX_LIMITS.outsidePool }, (_, n) =>
        holder.runCode(`export default () => (${n}, () => ${n})`),
      ),
    );
    expect(held.map(statusOf)).toEqual(held.map(() => 'success'));
    expect(await runCode(`export default () => () => 1`)).toMatchObject({
      status: 'terminated',
      error: { name: 'SandboxBusy', message: expect.stringContaining('16 sandbox runs') },
    });
    const nest = async () => statusOf(await runCode('export default 1'));
    expect((await runCode('export default await nest()', { globals: { nest } })).result).toBe(
      'terminated SandboxBusy',
    );
    // A result that is only data needs no such place.
    expect((await runCode(source)).result).toBe(1);
    // In one turn: the places are free at once, whatever the children still do.
    const closeAndNest = () => {
      holder.close();
      return nest();
    };
    const nested = await runCode('export default await closeAndNest()', { globals: { closeAndNest } });
    expect(nested.result).toBe('success');
    expect(statusOf(await runCode(`export default () => () => 1`))).toBe('success');
    expect((await runCode('export default await nest()', { globals: { nest } })).result).toBe('success');
    // This test starts twenty processes.
  });
});
