/**
 * A stop or a termination of the root reaches the whole tree (runtime §10): 13 threads in three levels, each of which
 * streams from a provider over its own socket.
 */
import { describe, expect, it } from '@jest/globals';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { callsMany, hangs, type RecordedRequest, scriptedModel } from '../../src/testing/index.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const LEVELS = [
  { name: 'helper', children: 3 },
  { name: 'branch', children: 3 },
  { name: 'leaf', children: 0 },
];
const THREADS = 13;
/** A stop that had to wait for a heartbeat would come too late for any test; `bench/recovery.ts` measures the time. */
const NO_HEARTBEATS = { modelHeartbeatMs: 3_600_000, toolHeartbeatMs: 3_600_000, stopWithinMs: 1_200_000 };

/** An agent that creates its children first; then it streams without an end. */
function act({ messages }: RecordedRequest) {
  const name = String(messages[0]?.content);
  const level = LEVELS.findIndex((each) => each.name === name);
  const { children = 0 } = LEVELS[level] ?? {};
  if (children === 0 || messages.some(({ role }) => role === 'tool')) return hangs({ after: 'I think' });
  const agent = LEVELS[level + 1]?.name;
  return callsMany(
    Array.from({ length: children }, (_, index) => ({
      name: 'subagent_create',
      args: { agent, name: `${agent} ${index}`, message: 'go', attachments: [] },
    })),
  );
}

function registry(baseUrl: string) {
  const provider = openaiCompatible({ baseUrl, apiKey: 'x' });
  return registryFrom({
    agents: LEVELS.map(({ name }) =>
      name === 'helper'
        ? defineAgent({ name, sideA: { prompt: `${name}_desk` } })
        : defineAgent({
            name,
            type: 'dual_ai',
            exposeAsTool: true,
            toolDescription: name,
            maxSessionTurns: 9,
            sideA: { prompt: `${name}_desk` },
            sideB: { prompt: `${name}_desk` },
          }),
    ),
    prompts: LEVELS.map(({ name }, level) =>
      definePrompt({
        name: `${name}_desk`,
        toolDescription: name,
        prompt: name,
        model: 'scripted',
        includeChat: true,
        includePastTools: true,
        tools: LEVELS.slice(level + 1, level + 2).map((next) => ({
          name: next.name,
          blocking: false,
          resumable: { receives_messages: 'side_a' as const },
        })),
      }),
    ),
    models: [defineModel({ name: 'scripted', provider, model: 'scripted-1' })],
  });
}

async function grow() {
  const model = scriptedModel(act);
  const server = await model.serve();
  closeAfterTest(server.close);
  const runtime = await testRuntime({ registry: registry(server.url), configuration: NO_HEARTBEATS });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const open = () => model.connections.filter(({ closedAt }) => closedAt === null).length;
  await eventually('all to stream', () => open() === THREADS);
  return { ...runtime, threadId, model, open };
}

describe('a tree of 13 streaming threads', () => {
  it.each(['stop', 'terminate'] as const)('one %s of the root closes every socket', async (action) => {
    const { client, store, threadId, model, open } = await grow();
    await client[action](threadId);
    await eventually('all sockets to close', () => open() === 0);
    expect(model.connections.filter(({ completed }) => !completed)).toHaveLength(THREADS);
    const status = action === 'stop' ? 'stopped' : 'terminated';
    await eventually('the whole tree to rest', async () => {
      const family = await client.getFamily(threadId);
      return family.length === THREADS && family.every(({ thread }) => thread.status === status);
    });
    const family = await store.family.read(threadId);
    expect(family.map(({ child }) => child?.status ?? status)).toEqual(Array(THREADS).fill(status));
    expect(model.requests).toHaveLength(THREADS + 4);
  });
});
