/** Tool loops of a model that thinks, on real threads, against a server that enforces the provider's rules. */
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { eventsOf } from '../../../src/core/event/thread-event.ts';
import { projectChat } from '../../../src/projections/ai-sdk/chat-projection.ts';
import { beginChat } from '../../../src/projections/ai-sdk/chat-state.ts';
import type { UiChunk } from '../../../src/projections/ai-sdk/ui-chunk.ts';
import { eventually } from '../../support/eventually.ts';
import { type Cluster, startCluster } from '../../support/fault-cluster.ts';
import { testRuntime } from '../../support/runtime.ts';
import { type AnthropicBody, type Block, strictAnthropic } from './strict-anthropic.ts';
import type { StrictServer } from './strict-server.ts';
import { call, hidden, thinkingProject, thought } from './thinking-project.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(...answers: Block[][]): Promise<StrictServer<AnthropicBody>> {
  const server = await strictAnthropic(answers);
  closing.push(server.close);
  return server;
}

const three: Block = { type: 'text', text: 'Three.' };
const LOOP = ['user: 1 + 2?', 'assistant:  -> add', 'tool add success: 3', 'assistant: Three.'];

it('thinking blocks are sent back unchanged, and shown by no endpoint', async () => {
  const server = await serve([thought, hidden, call], [three]);
  const runtime = await testRuntime({ registry: thinkingProject(server.url) });
  const id = await runtime.start('1 + 2?');
  expect(server.refusals).toEqual([]);
  expect(await runtime.transcript(id)).toEqual(LOOP);
  expect(server.requests[1]?.messages[1]?.content).toEqual([thought, hidden, call]);
  const { messages } = await runtime.client.getMessages(id);
  const events = await runtime.store.events.read(id, 0);
  const shown = JSON.stringify([messages, events, await runtime.store.messages.recent(id)]);
  expect(shown).toContain('toolu_1');
  expect(shown).not.toMatch(/sig-1|cmVkYWN0ZWQ/);
  await runtime.say(id, 'And now?');
  expect((await runtime.transcript(id)).at(-1)).toBe('assistant: Done.');
});

it('thinking excluded by the prompt is hidden from readers, and still sent back within the turn', async () => {
  const server = await serve([thought, call], [three]);
  const registry = thinkingProject(server.url, { reasoning: { exclude: true } });
  const runtime = await testRuntime({ registry });
  const id = await runtime.start('1 + 2?');
  expect(await runtime.transcript(id)).toEqual(LOOP);
  expect(server.requests[1]?.messages[1]?.content).toEqual([thought, call]);
  expect(JSON.stringify(await runtime.messages(id))).not.toContain('I should add these.');
});

it('an edited answer is sent back without its thinking, as is one before a deleted call', async () => {
  const server = await serve([thought, call], [thought, three]);
  const registry = thinkingProject(server.url, { reasoning: { include: true } });
  const runtime = await testRuntime({ registry });
  const id = await runtime.start('1 + 2?');
  await runtime.say(id, 'And now?');
  expect(server.requests[2]?.messages[1]?.content).toEqual([thought, call]);
  expect(server.requests[2]?.messages[3]?.content).toEqual([thought, three]);
  const [, asking, , answer] = await runtime.messages(id);
  await runtime.client.updateMessage(id, answer?.id ?? '', { content: 'Four.' });
  await runtime.client.deleteMessage(id, asking?.id ?? '');
  await runtime.say(id, 'And now?');
  expect(server.refusals).toEqual([]);
  expect(server.requests[3]?.messages[1]?.content).toEqual([{ type: 'text', text: 'Four.' }]);
});

it('an agent that takes over within a turn continues with the thinking of the agent before', async () => {
  const handing: Block = { type: 'tool_use', id: 'toolu_0', name: 'clerk', input: {} };
  const server = await serve([thought, handing], [hidden, call], [three]);
  const runtime = await testRuntime({ registry: thinkingProject(server.url) });
  const id = await runtime.start('1 + 2?');
  expect(server.refusals).toEqual([]);
  expect((await runtime.transcript(id)).at(-1)).toBe('assistant: Three.');
  expect(server.requests[2]?.messages[1]?.content).toEqual([thought, handing]);
  expect(server.requests[2]?.messages[3]?.content).toEqual([hidden, call]);
});

it('a worker killed within a loop leaves the next one everything that the provider requires', async () => {
  const server = await serve([thought, hidden, call], [three], [three]);
  const cluster: Cluster = await startCluster({
    program: join(import.meta.dirname, 'thinking-worker.ts'),
    environment: { STRICT_URL: server.url },
  });
  closing.push(() => cluster.close());
  await cluster.keep(1);
  cluster.orderDeath('model_committed');
  const id = await cluster.begin('1 + 2?');
  await cluster.died('model_committed');
  await cluster.keep(1);
  await cluster.client.waitForIdle(id);
  expect(server.refusals).toEqual([]);
  expect(await cluster.transcript(id)).toEqual(LOOP);
  expect(server.requests.at(-1)?.messages[1]?.content).toEqual([thought, hidden, call]);
});

it('a worker killed while thinking and arguments stream leaves readers only those of the next attempt', async () => {
  const other = { ...call, id: 'toolu_2' } as Block;
  // Behind the first piece of the call's arguments.
  const server = await strictAnthropic([[thought, call], [thought, other], [three]], 8);
  closing.push(server.close);
  const cluster: Cluster = await startCluster({
    program: join(import.meta.dirname, 'thinking-worker.ts'),
    environment: { STRICT_URL: server.url },
  });
  closing.push(() => cluster.close());
  await cluster.keep(1);
  const id = await cluster.begin('1 + 2?');
  const rows = async () => eventsOf(await cluster.store.events.read(id, 0, 1000), 'model.chunk');
  await eventually('the arguments', async () => (await rows()).some(({ data }) => data.input));
  await cluster.workers[0]?.end('SIGKILL');
  await cluster.keep(1);
  await cluster.client.waitForIdle(id);
  expect(await cluster.transcript(id)).toEqual(LOOP);
  const events = await cluster.store.events.read(id, 0, 1000);
  expect(eventsOf(events, 'attempt.discarded')).toMatchObject([
    { data: { attempt: 1, reason: 'WorkerLost' } },
  ]);
  let reading = beginChat(7);
  const chunks: UiChunk[] = [];
  for (const event of events) {
    const messageId = event.type === 'message.created' ? event.data.messageId : undefined;
    const message = messageId === undefined ? undefined : await cluster.store.messages.get(id, messageId);
    const [next, more] = projectChat(reading, { event, message });
    reading = next;
    chunks.push(...more);
  }
  const types = chunks.map(({ type }) => type);
  const reset = types.indexOf('reset-step');
  expect(types.slice(0, reset)).toEqual(expect.arrayContaining(['reasoning-delta', 'tool-input-delta']));
  const called = chunks.filter(({ type }) => type === 'tool-input-available');
  expect(called).toMatchObject([{ toolCallId: 'toolu_2' }]);
});
