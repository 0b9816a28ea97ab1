/** Compaction in requests of real threads: what is sent, kept, told and paid for. */
import { describe, expect, it } from '@jest/globals';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { GuardsInput } from '../../src/definitions/index.ts';
import {
  fails,
  type RecordedRequest,
  type ScriptedModel,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const isSummary = ({ messages }: RecordedRequest) => messages[0]?.content === INSTRUCTIONS;
const SMALL: GuardsInput = { compaction: { thresholdMessages: 8, retainRecentMessages: 4 } };

/** Answers each word, and each record with "summary <number>". */
function speaker(summary: (count: number) => ScriptStep = (count) => says(`summary ${count}`)) {
  let summaries = 0;
  return scriptedModel((request) => {
    if (!isSummary(request)) return says(`re: ${request.messages.at(-1)?.content}`);
    summaries += 1;
    return summary(summaries);
  });
}

async function talkative(
  model: ScriptedModel,
  guards: GuardsInput | undefined,
  options: RuntimeOptions = {},
) {
  const runtime = await testRuntime({
    model,
    ...options,
    agent: { ...options.agent, ...(guards && { guards }) },
  });
  const id = await runtime.start();
  const say = async (count: number, from = 1) => {
    for (let index = from; index < from + count; index += 1) await runtime.say(id, `word ${index}`);
  };
  const events = () => runtime.store.events.read(id, 0, 100_000);
  const answers = () => model.requests.filter((request) => !isSummary(request));
  const compacted = async () => eventsOf(await events(), 'context.compacted').map(({ data }) => data);
  return { ...runtime, model, id, say, events, answers, compacted };
}

const shown = ({ messages }: RecordedRequest) => messages.map(({ role, content }) => `${role}: ${content}`);

describe('a thread whose agent asks for compaction', () => {
  it('[AX-24] has requests of its prompt, one tagged row, and the newest messages as they are', async () => {
    const thread = await talkative(speaker(), SMALL);
    await thread.say(5);
    expect(thread.model.requests.filter(isSummary)).toEqual([]);
    await thread.say(1, 6);
    expect(shown(thread.answers().at(-1) as RecordedRequest)).toEqual([
      'system: You help.',
      'system: [compacted] A summary in place of the 6 messages before:\nsummary 1',
      'user: word 4',
      'assistant: re: word 4',
      'user: word 5',
      'assistant: re: word 5',
      'user: word 6',
    ]);
    const [record] = thread.model.requests.filter(isSummary);
    expect(record?.messages[1]?.content).toBe(
      'Record:\n[user] word 1\n[assistant] re: word 1\n[user] word 2\n[assistant] re: word 2\n[user] word 3\n[assistant] re: word 3',
    );
  });
});

describe('a summary', () => {
  it('[AX-25] is made once: the next turns go on with it, and what it said is part of the next one', async () => {
    const thread = await talkative(speaker(), SMALL);
    await thread.say(14);
    const compacted = await thread.compacted();
    expect(
      compacted.map(({ messages, covered, summary, reason }) => [messages, covered, summary, reason]),
    ).toEqual([
      [6, 6, 'summary 1', 'messages'],
      [6, 12, 'summary 2', 'messages'],
      [6, 18, 'summary 3', 'messages'],
    ]);
    const records = thread.model.requests.filter(isSummary);
    expect(records).toHaveLength(3);
    expect(records[1]?.messages[1]?.content).toMatch(
      /^Summary of what came before:\nsummary 1\n\nRecord:\n\[user\] word 4\n/,
    );
    // The transcript has all of it.
    expect(await thread.messages(thread.id)).toHaveLength(28);
  });

  it.each([
    ['fails', () => fails({ status: 400, message: 'no' })],
    ['says nothing', () => says(' ')],
  ])('[AX-23] of a model that %s is a snippet, and the turn goes on', async (_how, summary) => {
    const thread = await talkative(speaker(summary), SMALL);
    await thread.say(6);
    const [told] = await thread.compacted();
    expect(told).toMatchObject({ messages: 6, fallback: true });
    expect(told?.summary.split('\n')[0]).toBe('[user] word 1');
    expect(shown(thread.answers().at(-1) as RecordedRequest)[1]).toContain('[assistant] re: word 3');
    expect((await thread.client.getThread(thread.id)).status).toBe('idle');
  });

  it('is a call of the step that is told, and paid for like any', async () => {
    const thread = await talkative(speaker(), SMALL, { agent: { budget: { maxLlmCalls: 2 } } });
    await thread.say(6);
    const events = await thread.events();
    const told = eventsOf(events, 'model.called').filter(({ step }) => step === 6);
    expect(told.map(({ data }) => [data.call, data.purpose])).toEqual([
      [1001, 'compaction'],
      [1, undefined],
    ]);
    const order = events.filter(({ step }) => step === 6).map(({ type }) => type);
    expect(
      order.filter((type) => /^(model\.(called|answered)|context\.compacted|step\.committed)$/.test(type)),
    ).toEqual([
      'model.called',
      'model.answered',
      'context.compacted',
      'model.called',
      'model.answered',
      'step.committed',
    ]);
    const budget = await thread.client.getBudget(thread.id);
    expect(budget).toMatchObject([{ limit: 'maxLlmCalls', used: 2 }]);
  });

  it('is not asked for where the budget has room for the answer alone', async () => {
    const thread = await talkative(speaker(), SMALL, { agent: { budget: { maxLlmCalls: 1 } } });
    await thread.say(6);
    expect(thread.model.requests.filter(isSummary)).toEqual([]);
    expect(await thread.compacted()).toMatchObject([{ messages: 6, fallback: true }]);
    expect(eventsOf(await thread.events(), 'budget.exceeded')).toEqual([]);
    expect((await thread.client.getThread(thread.id)).status).toBe('idle');
  });
});

describe('a thread whose agent asks for none', () => {
  it('has no summary, no event and no other request', async () => {
    const thread = await talkative(speaker(), undefined);
    await thread.say(6);
    expect(thread.model.requests).toHaveLength(6);
    expect(await thread.compacted()).toEqual([]);
  });
});
