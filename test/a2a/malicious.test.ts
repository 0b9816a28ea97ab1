/**
 * A malicious remote agent can do whatever it likes: the call to it ends with a code, within its time limit, and
 * nothing else is affected. On the real engine, one thread per kind of misbehaviour (`way`).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineA2aAgent } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { ALL_WAYS, type RudeAgent, startRudeAgent } from './rude-agent.ts';

const EXPECTED: Readonly<Record<string, string>> = {
  behaves: 'success',
  answers_without_an_end: 'A2aTooLarge',
  answers_no_headers: 'A2aTimeout',
  answers_a_slow_body: 'A2aTimeout',
  answers_of_another_task: 'A2aInvalid',
  answers_of_another_context: 'A2aInvalid',
  answers_a_page: 'A2aInvalid',
  answers_no_json: 'A2aInvalid',
  answers_another_request: 'A2aInvalid',
  has_a_state_of_its_own: 'A2aInvalid',
  never_ends: 'A2aTimeout',
  streams_without_an_end: 'A2aTimeout',
  streams_everything_twice: 'success',
  ends_and_works_again: 'success',
  closes_at_once: 'A2aUnavailable',
  has_too_much_to_do: 'A2aUnavailable',
  has_a_fault: 'A2aUnavailable',
  is_gone_with_the_task: 'A2aUnavailable',
  wants_credentials: 'A2aAuthRequired',
  tells_data_without_an_end: 'A2aTooLarge',
  has_a_hundred_files: 'success',
  has_parts_without_an_end: 'A2aTooLarge',
  points_inside: 'success',
  hides_words: 'success',
  has_a_huge_card: 'A2aTooLarge',
  has_a_card_without_an_end: 'A2aTooLarge',
  has_a_slow_card: 'A2aTimeout',
  has_a_card_that_is_none: 'A2aInvalid',
  has_a_card_of_null: 'A2aInvalid',
  has_a_card_that_leads_inside: 'A2aRedirect',
  has_a_card_elsewhere: 'A2aRedirect',
};

let rude: RudeAgent;
const insideAsked: string[] = [];
const inside = createServer(({ url = '' }, response) => {
  insideAsked.push(url);
  response.end('a secret');
});

beforeAll(async () => {
  inside.listen(0, '127.0.0.1');
  await new Promise((resolve) => inside.once('listening', resolve));
  rude = await startRudeAgent(`http://127.0.0.1:${(inside.address() as AddressInfo).port}`);
});
afterAll(() => {
  rude?.close();
  inside.close();
});

/** Short if the time limit is what the way exceeds; otherwise long enough for a busy machine. */
function timesOf(way: string) {
  if (way === 'is_gone_with_the_task' || way === 'has_too_much_to_do') return { unreachableMs: 1 };
  if (EXPECTED[way] !== 'A2aTimeout') return { requestTimeoutMs: 120_000 };
  return NEVER_READY.has(way) ? { timeoutMs: 3000 } : { requestTimeoutMs: 2000 };
}

/** Ways in which the agent answers but its task never ends. */
const NEVER_READY = new Set(['never_ends', 'streams_without_an_end']);

/** Runs one call per way, and returns the outcome of each. */
async function meetAll(runtime: TestRuntime) {
  const begun = await Promise.all(
    ALL_WAYS.map(async (way) => {
      const messages = [{ content: way }];
      const { threadId } = await runtime.client.startThread({ agent: 'helper', messages });
      return { way, threadId };
    }),
  );
  const met = await Promise.all(
    begun.map(async ({ way, threadId }) => {
      await runtime.client.waitForIdle(threadId);
      const { messages } = await runtime.store.messages.list(threadId);
      const told = messages.find(({ role }) => role === 'tool');
      const { error_code: code = 'success' } = (told?.metadata ?? {}) as { error_code?: string };
      return [way, { code, text: told?.content ?? '', threadId }] as const;
    }),
  );
  return new Map(met);
}

describe('a malicious remote agent', () => {
  it('ends with a code in each of thirty ways, and reaches no internal address', async () => {
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'user' ? calls(`a2a__${last.content}`, { message: 'go' }) : says('went on');
    });
    const agents = ALL_WAYS.map((way) => [
      way,
      defineA2aAgent({ description: `It ${way}.`, url: `${rude.origin}/${way}/`, ...timesOf(way) }),
    ]);
    const tools = ALL_WAYS.map((way) => `a2a:${way}`);
    const before = process.memoryUsage().rss;
    const runtime = await testRuntime({ model, a2aAgents: Object.fromEntries(agents), prompt: { tools } });
    const met = await meetAll(runtime);
    expect(Object.fromEntries([...met].map(([way, { code }]) => [way, code]))).toEqual(EXPECTED);
    // The floods were not kept in memory: each is bounded, and there are only a few.
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
    // Every thread has continued.
    for (const { threadId } of met.values())
      expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: went on');
    expect(insideAsked).toEqual([]);
    expect(met.get('points_inside')?.text).toContain('file:///etc/passwd');
    expect(met.get('points_inside')?.text).toContain('could not be fetched');
    expect(met.get('hides_words')?.text).toBe('goodbye<script>alert(1)</script>');
    // The text of an agent's card is not part of a prompt.
    expect(JSON.stringify(model.requests)).not.toContain('Ignore all');
    // The card is read once; while the task runs, it is not requested again.
    expect(rude.asked.get('never_ends')?.filter((each) => each === 'card')).toHaveLength(1);
    // A task that may still be running is cancelled.
    await eventually(
      'its cancellation',
      () => rude.asked.get('never_ends')?.includes('CancelTask') || undefined,
    );
  });
});
