/** How the handler of an effect can end, without a server: timed out, aborted or thrown; and tools that it leaves. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ExecutedEffect, executeEffect } from '../../src/activities/effect/run-effects.ts';
import { defineEffect, defineTool, type ExecuteEffect, registryFrom } from '../../src/definitions/index.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { openThread } from '../contract/thread-driver.ts';
import { eventually } from '../support/eventually.ts';
import { testStore } from '../support/runtime.ts';

type Handler = ExecuteEffect<undefined>;

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = createSandbox();
});
afterAll(() => sandbox.close());

async function execute(
  handler: Handler,
  { signal = new AbortController().signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<ExecutedEffect> {
  const store = await testStore();
  const thread = await openThread(store);
  const look = defineTool({ description: 'looks', execute: () => ({ status: 'success' }) });
  const registry = registryFrom({ effects: { e: defineEffect('does it', handler) }, tools: { look } });
  const record = await store.threads.get(thread.id);
  if (!record) throw new Error('The thread is not there.');
  const effect = { id: 'e1', name: 'e', args: {}, scheduledAt: 0, createdAt: 0 };
  return executeEffect({ store, sandbox, registry: () => registry } as never, {
    effect,
    thread: record,
    signal,
    timeoutMs,
  });
}

const forever = () => new Promise<void>(() => undefined);

describe('the handler of an effect', () => {
  it('that exceeds its timeout fails as a timeout, and its code is aborted', async () => {
    let status: string | undefined;
    const compute: Handler = async (state) => {
      status = (await state.runCode('for (;;);')).status;
    };
    expect(await execute(compute, { timeoutMs: 300 })).toMatchObject({
      kind: 'executed',
      error: { code: 'Timeout', message: expect.stringContaining('within 300 ms') },
    });
    expect(await eventually('its code has ended', () => status)).toBe('terminated');
  });

  it('that is aborted reports no end, even if it throws', async () => {
    const controller = new AbortController();
    const cut: Handler = async (state) => {
      controller.abort(new Error('stopped'));
      await state.getMessages();
      throw new Error('aborted');
    };
    expect(await execute(cut, { signal: controller.signal })).toEqual({ kind: 'aborted' });
    expect(await execute(forever, { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' });
  });

  it('keeps its queued tools, even if it fails', async () => {
    const queue: Handler = (state) => {
      state.queueTool('look', { at: 1 });
      throw new TypeError('later');
    };
    expect(await execute(queue)).toEqual({
      kind: 'executed',
      error: { code: 'EffectFailed', message: 'later', stack: expect.stringMatching(/^TypeError: later\n/) },
      queuedTools: [{ id: expect.any(String), name: 'look', arguments: { at: 1 } }],
    });
  });

  it.each([
    ['a text', 'a text', 'a text'],
    ['nothing', undefined, 'No reason was given (undefined was thrown).'],
    ['an error of another realm', { message: 'like an error' }, 'like an error'],
    ['an error too long to keep', new Error('x'.repeat(10_000)), 'x'.repeat(4000)],
  ])('that throws %s is an error with a text', async (_what, thrown, message) => {
    const executed = await execute(() => {
      throw thrown;
    });
    expect(executed).toMatchObject({ error: { code: 'EffectFailed', message } });
  });
});
