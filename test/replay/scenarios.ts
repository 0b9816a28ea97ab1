/** Small lives of threads whose histories are kept: each must replay with every later version of the workflow. */
import { z } from 'zod';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import {
  calls,
  callsMany,
  fails,
  hangs,
  type ScriptedModel,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { eventually, type RuntimeOptions } from '../support/runtime.ts';

export interface Scenario {
  readonly model: () => ScriptedModel;
  readonly options?: RuntimeOptions;
  live(client: RuntimeClient, threadId: string): Promise<void>;
}

const tools = {
  quick: defineTool({
    description: 'quick',
    quick: true,
    execute: () => ({ status: 'success', result: 'q' }),
  }),
  slow: defineTool({
    description: 'slow',
    args: z.object({ fail: z.boolean().default(false) }),
    execute: async (_state, { fail }) =>
      fail ? { status: 'error', error: 'asked to' } : { status: 'success', result: 's' },
  }),
};

async function say(client: RuntimeClient, threadId: string, content: string): Promise<void> {
  await client.queueMessage(threadId, { content });
  await client.waitForIdle(threadId);
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  conversation: {
    model: () => scriptedModel([says('hello'), says('again')]),
    async live(client, threadId) {
      await say(client, threadId, 'hi');
      await client.sendMessage(threadId, { content: 'and now?' });
      await client.waitForIdle(threadId);
    },
  },
  tools: {
    model: () =>
      scriptedModel([
        callsMany([{ name: 'slow' }, { name: 'quick' }]),
        calls('slow', { fail: true }),
        says('done'),
      ]),
    options: { tools },
    live: (client, threadId) => say(client, threadId, 'work'),
  },
  'run-code': {
    model: () => scriptedModel([calls('run_code', { source: 'export default 6 * 7' }), says('42')]),
    options: { prompt: { tools: ['run_code'] } },
    live: (client, threadId) => say(client, threadId, 'compute'),
  },
  'queued-tool': {
    model: () => scriptedModel([says('noted')]),
    options: { tools },
    async live(client, threadId) {
      await client.queueTool(threadId, { name: 'quick' });
      await client.waitForIdle(threadId);
    },
  },
  'failed-step': {
    model: () => scriptedModel([fails({ status: 400, message: 'no' }), says('better')]),
    async live(client, threadId) {
      await say(client, threadId, 'hi');
      await say(client, threadId, 'again');
    },
  },
  'stopped-and-terminated': {
    model: () => scriptedModel([hangs({ after: 'partial' }), says('back')]),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'hi' });
      await eventually('text streams', async () =>
        (await client.store.readEvents(threadId, 0)).some(({ type }) => type === 'model.chunk'),
      );
      await client.stop(threadId, 'enough');
      await client.waitForIdle(threadId);
      await say(client, threadId, 'go on');
      await client.terminate(threadId, 'over');
      await client.waitForIdle(threadId);
    },
  },
  'refused-signals': {
    model: () => scriptedModel([]),
    async live(client, threadId) {
      const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
      await handle.signal('queueMessage', { content: 7 });
      await handle.signal('queueTool', null);
      await eventually(
        'both are told',
        async () =>
          (await client.store.readEvents(threadId, 0)).filter(({ type }) => type === 'item.rejected')
            .length === 2,
      );
    },
  },
  'behind-a-step': {
    model: () => scriptedModel([says('slowly', { chunks: 4, chunkDelayMs: 100 }), says('all')]),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'first' });
      await eventually('it runs', async () => (await client.getThread(threadId)).status === 'running');
      await client.queueMessage(threadId, { content: 'second' });
      await client.queueMessage(threadId, { content: 'third' });
      await client.waitForIdle(threadId);
    },
  },
  'continued-as-new': {
    model: () => scriptedModel(() => says('ok')),
    options: { configuration: { historySoftLimit: 50 } },
    async live(client, threadId) {
      for (let i = 0; i < 8; i++) await say(client, threadId, `m${i}`);
    },
  },
};
