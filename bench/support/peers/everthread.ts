/** Everthread: a worker and a client in one process, as the other peers have them. */
import { NativeConnection } from '@temporalio/worker';
import { z } from 'zod';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import type { Provider, ProviderRequest, ProviderStreamChunk } from '../../../src/core/message/provider.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../../src/definitions/index.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { createWorker } from '../../../src/worker/index.ts';
import { forgetSettings, quietRuntime } from '../rig.ts';
import { decide, effect, hang, note, openLedger, say } from './double.ts';
import type { Peer, PeerOptions } from './peer.ts';

export async function start({ folder, ledger, temporal, database, settings }: PeerOptions): Promise<Peer> {
  forgetSettings();
  quietRuntime();
  await openLedger(ledger);
  const store = await openStore(database ?? `sqlite:store.db${settings.query ?? ''}`, folder);
  const connection = await NativeConnection.connect({ address: temporal });
  const registry = registryOf(settings.tool === 'quick');
  const worker = await createWorker({
    projectDir: folder,
    registry,
    store,
    connection,
    taskQueue: 'peers',
    signals: false,
  });
  void worker.run();
  const client = await RuntimeClient.connect({ address: temporal, store, taskQueue: 'peers' });
  const ids = new Map<string, string>();
  const begin = async (thread: string, content: string) => {
    const { threadId } = await client.startThread({ agent: 'double', messages: [{ content }] });
    ids.set(thread, threadId);
  };
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      const threadId = ids.get(thread) as string;
      await client.cancelExecution(threadId);
      await client.waitForIdle(threadId).catch(() => undefined);
    },
  };
}

function registryOf(quick: boolean) {
  const prompt = {
    name: 'double',
    toolDescription: 'measured',
    prompt: 'You are measured.',
    model: 'double',
    includeChat: true,
    includePastTools: true,
    tools: ['effect'],
  };
  return registryFrom({
    // The default limit of an execution is 250 steps.
    agents: [defineAgent({ name: 'double', sideA: { prompt: 'double', maxSteps: 10_000 } })],
    prompts: [definePrompt(prompt)],
    models: [defineModel({ name: 'double', provider: () => PROVIDER, model: 'double-1' })],
    tools: {
      effect: defineTool({
        description: 'Appends a line.',
        args: z.object({ thread: z.string(), n: z.number() }),
        execute: async (_state, call) => ({ status: 'success', result: await effect(call) }) as const,
        // An idempotent tool is run again where its outcome is unknown; an ordinary one never is.
        ...(quick && { quick: true }),
      }),
    },
  });
}

const USAGE = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };

const PROVIDER: Provider = {
  name: 'double',
  specificationVersion: '1',
  async generate() {
    throw new Error('Everthread streams where it can.');
  },
  stream: async (request) => answer(request),
};

async function* answer({ messages, signal }: ProviderRequest): AsyncGenerator<ProviderStreamChunk> {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  const decision = decide(JSON.stringify(messages[asked]?.content), results);
  if (decision.kind === 'hang') await hang(decision.thread, signal);
  if (decision.kind !== 'call') {
    await note('d', decision.thread);
    yield { type: 'content-delta', delta: 'Done.' };
    yield { type: 'finish', finishReason: 'stop', usage: USAGE };
    return;
  }
  const tool = { id: `call_${results}`, name: 'effect' };
  yield { type: 'tool-call-start', ...tool };
  yield { type: 'tool-call-done', ...tool, arguments: JSON.stringify(decision.call) };
  yield { type: 'finish', finishReason: 'tool_calls', usage: USAGE };
}
