/** Large families: what is sent and reported is counted exactly (runtime §8, §9, §11). */
import { describe, expect, it } from '@jest/globals';
import { scriptedModel } from '../../src/testing/index.ts';
import { fanOutRegistry, fanOutScript, LEVELS } from '../support/fan-out.ts';
import { isLong } from '../support/long-form.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

/** More calls in a step than are listed by name (LIMITS.namedCalls). */
const CHILDREN = isLong ? 50 : 20;
/** Messages in each direction: more than a run keeps the ids of (LIMITS.seenIds). */
const MESSAGES = isLong ? 500 : 300;
/** Milliseconds for that many writes, which take a minute on a busy machine. */
const PATIENCE_MS = 120_000;

async function family(content: string): Promise<TestRuntime & { thread: string }> {
  const model = scriptedModel(fanOutScript);
  const runtime = await testRuntime({ model, registry: fanOutRegistry(model) });
  const { threadId: thread } = await runtime.client.startThread({ agent: 'lead', messages: [{ content }] });
  return { ...runtime, thread };
}

async function countEvents({ store, thread }: { store: TestRuntime['store']; thread: string }, type: string) {
  return (await store.events.read(thread, 0, 1_000_000)).filter((event) => event.type === type).length;
}

describe('a large family of threads', () => {
  it('[runtime 7.2] many calls of one step create as many children, and each reports once, in order of delivery', async () => {
    const runtime = await family(`fan ${CHILDREN}`);
    const { store, client, thread } = runtime;
    const all = async () => (await countEvents(runtime, 'subagent.returned')) === CHILDREN;
    await eventually('all reports', all, PATIENCE_MS);
    await client.waitForIdle(thread);
    const children = await store.children.list(thread);
    expect(children.map(({ name, status }) => `${name} ${status}`)).toEqual(
      Array.from({ length: CHILDREN }, (_, index) => `mite ${index + 1} idle`),
    );
    const events = await store.events.read(thread, 0, 1_000_000);
    const delivered = events
      .filter((event) => event.type === 'subagent.returned')
      .map(({ data }) => data.childId);
    const reports = (await runtime.messages(thread)).filter(
      ({ role, metadata }) => role === 'user' && metadata.subagent_id,
    );
    expect(reports.map(({ metadata }) => metadata.subagent_id)).toEqual(delivered);
    expect(new Set(delivered).size).toBe(CHILDREN);
    const said = reports.map(({ content }) => content?.split('\n\n')[1]).sort();
    expect(said).toEqual(Array.from({ length: CHILDREN }, (_, index) => `done ${index + 1}`).sort());
  });

  it('[runtime 7.1] a chain of blocking subagents answers through every level', async () => {
    const { client, store, thread, transcript } = await family('deep');
    await client.waitForIdle(thread);
    expect((await transcript(thread)).at(-1)).toBe('assistant: 1 2 3 4');
    const members = await store.family.read(thread);
    expect(members.map(({ depth }) => depth)).toEqual(
      Array.from({ length: LEVELS + 1 }, (_, depth) => depth),
    );
    expect(new Set(members.map((member) => member.thread.rootId))).toEqual(new Set([thread]));
  });

  it('[runtime 9] hundreds of messages between siblings in both directions arrive in order and once', async () => {
    const runtime = await family('peers 2');
    const { client, store, thread } = runtime;
    await client.waitForIdle(thread);
    const [one = '', two = ''] = (await store.children.list(thread)).map(({ threadId }) => threadId);
    for (const id of [one, two]) await client.waitForIdle(id);
    await Promise.all([
      client.queueMessage(one, { content: `relay ${two} ${MESSAGES}` }),
      client.queueMessage(two, { content: `relay ${one} ${MESSAGES}` }),
    ]);
    // Wait for both writers first: reading all messages again and again would slow them down.
    for (const id of [one, two]) await client.waitForIdle(id);
    for (const [to, from] of [
      [one, two],
      [two, one],
    ] as const) {
      const received = async () =>
        (await runtime.messages(to)).filter(
          ({ content, status }) => status === 'completed' && content?.startsWith(`${from} `),
        );
      await eventually('all messages', async () => (await received()).length >= MESSAGES, PATIENCE_MS);
      await client.waitForIdle(to);
      expect((await received()).map(({ content }) => content)).toEqual(
        Array.from({ length: MESSAGES }, (_, index) => `${from} ${index + 1}`),
      );
    }
  });
});
