/** Compaction in requests of real threads: what is sent, stored, logged and paid for. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Compaction, HookDefinition } from '../../src/core/author/hook.ts';
import { prepareManifest } from '../../src/core/context/context-manifest.ts';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import {
  defineAgent,
  defineHook,
  defineModel,
  definePrompt,
  defineTool,
  type GuardsInput,
  registryFrom,
} from '../../src/definitions/index.ts';
import {
  calls,
  fails,
  type RecordedRequest,
  type ScriptedModel,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { hookRegistry } from '../support/hook-project.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const isSummary = ({ messages }: RecordedRequest) => messages[0]?.content === INSTRUCTIONS;
const SMALL: GuardsInput = { compaction: { thresholdMessages: 8, retainRecentMessages: 4 } };

/** A model that answers each message, and summarises each record as "summary <number>". */
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
  const word = (content: string) => runtime.say(id, content);
  return { ...runtime, model, id, say, word, events, answers, compacted };
}

const shown = ({ messages }: RecordedRequest) => messages.map(({ role, content }) => `${role}: ${content}`);

describe('a thread with compaction', () => {
  it('[AX-24] has requests with its prompt, one tagged row, and the newest messages unchanged', async () => {
    const thread = await talkative(speaker(), SMALL);
    await thread.say(5);
    expect(thread.model.requests.filter(isSummary)).toEqual([]);
    await thread.say(1, 6);
    expect(shown(thread.answers().at(-1) as RecordedRequest)).toEqual([
      'system: You help.',
      'system: [compacted] Summary of the 6 messages before this point:\nsummary 1',
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
  it('[AX-27] is passed to hooks before the request that begins with it, as logged', async () => {
    const told: Compaction[] = [];
    const asked: number[] = [];
    const model = speaker();
    const hook = defineHook({
      hook: 'on_compaction',
      id: 'watch',
      execute(_state, compaction) {
        told.push(compaction);
        asked.push(model.requests.length);
        throw new Error('An observer ends nothing.');
      },
    });
    const registry = hookRegistry({ model, hooks: [hook as HookDefinition], agent: { guards: SMALL } });
    const thread = await talkative(model, undefined, { registry });
    await thread.say(6);
    const [{ messages: count, messageId, prompt, summary } = {} as never] = await thread.compacted();
    const key = `${thread.id}:a:${prompt}:${messageId}:summary`;
    expect(told).toEqual([{ key, count, messageId, prompt, summary }]);
    // The hook ran after the request for the summary, and before the request for the answer.
    expect(asked).toEqual([model.requests.length - 1]);
    expect((await thread.client.getThread(thread.id)).status).toBe('idle');
  });

  it('[AX-25] is made once: the next turns continue with it, and its content is part of the next one', async () => {
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
      /^Summary of earlier messages:\nsummary 1\n\nRecord:\n\[user\] word 4\n/,
    );
    // The transcript still has all messages.
    expect(await thread.messages(thread.id)).toHaveLength(28);
  });

  it.each([
    ['fails', () => fails({ status: 400, message: 'no' })],
    ['says nothing', () => says(' ')],
  ])('[AX-23] of a model that %s is a snippet, and the turn continues', async (_how, summary) => {
    const thread = await talkative(speaker(summary), SMALL);
    await thread.say(6);
    const [told] = await thread.compacted();
    expect(told).toMatchObject({ messages: 6, fallback: true });
    expect(told?.summary.split('\n')[0]).toBe('[user] word 1');
    expect(shown(thread.answers().at(-1) as RecordedRequest)[1]).toContain('[assistant] re: word 3');
    expect((await thread.client.getThread(thread.id)).status).toBe('idle');
  });

  it('is a logged and charged model call of the step', async () => {
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

  it('is not requested if the budget suffices only for the answer', async () => {
    const thread = await talkative(speaker(), SMALL, { agent: { budget: { maxLlmCalls: 1 } } });
    await thread.say(6);
    expect(thread.model.requests.filter(isSummary)).toEqual([]);
    expect(await thread.compacted()).toMatchObject([{ messages: 6, fallback: true }]);
    expect(eventsOf(await thread.events(), 'budget.exceeded')).toEqual([]);
    expect((await thread.client.getThread(thread.id)).status).toBe('idle');
  });
});

describe('the summarised part of a history', () => {
  it('is summarised again after a change', async () => {
    const thread = await talkative(speaker(), SMALL);
    await thread.say(6);
    const [first] = await thread.messages(thread.id);
    await thread.store.messages.update(thread.id, first?.id as string, { content: 'another word' });
    await thread.say(1, 7);
    const records = thread.model.requests.filter(isSummary).map(({ messages }) => messages[1]?.content);
    expect(records).toHaveLength(2);
    expect(records[1]).toMatch(/^Record:\n\[user\] another word\n/);
    expect((await thread.compacted()).map(({ covered }) => covered)).toEqual([6, 8]);
  });

  it('is replaced by a snippet if it changed while the model summarised', async () => {
    let change: () => Promise<unknown> = async () => undefined;
    const model = scriptedModel(async (request) => {
      if (!isSummary(request)) return says('yes');
      await change();
      return says('of what was there before');
    });
    const thread = await talkative(model, SMALL);
    await thread.say(5);
    const [first] = await thread.messages(thread.id);
    change = () => thread.store.messages.update(thread.id, first?.id as string, { content: 'another word' });
    await thread.say(1, 6);
    expect(model.requests.filter(isSummary)).toHaveLength(1);
    const told = await thread.compacted();
    expect(told).toMatchObject([{ covered: 6, fallback: true }]);
    expect(told[0]?.summary).toContain('[user] another word');
  });

  it('may be one execution of a prompt without the chat, whose question is repeated', async () => {
    const model = scriptedModel((request) => {
      if (isSummary(request)) return says('summary');
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      const isDone = request.messages.at(-1)?.content === 'look 12';
      return isDone ? says('done') : calls('look', { results });
    });
    let looks = 0;
    const look = defineTool({
      description: 'looks',
      args: z.object({ results: z.number() }),
      execute: async () => {
        looks += 1;
        return { status: 'success', result: `look ${looks}` };
      },
    });
    const prompt = { includeChat: false };
    const thread = await talkative(model, SMALL, { tools: { look }, prompt });
    await thread.say(1);
    expect(looks).toBe(12);
    const last = thread.answers().at(-1) as RecordedRequest;
    expect(last.messages.slice(1, 3)).toEqual([
      { role: 'system', content: expect.stringMatching(/^\[compacted\]/) },
      { role: 'user', content: 'word 1' },
    ]);
    expect(last.messages.slice(3).map(({ role }) => role)).toEqual(
      expect.arrayContaining(['assistant', 'tool']),
    );
    expect(last.messages[3]?.role).toBe('assistant');
    // Another execution of the prompt does not see the summary.
    looks = 11;
    await thread.say(1, 2);
    expect(shown(thread.answers().at(-2) as RecordedRequest)).toEqual(['system: You help.', 'user: word 2']);
  });

  it('may be the conversation shown to a sub-prompt, for that prompt only', async () => {
    const model = scriptedModel((request) => {
      if (isSummary(request)) return says('summary');
      const [system] = request.messages;
      const last = request.messages.at(-1);
      if (system?.content === 'You advise.') return says('advice');
      return last?.role === 'user' && last.content === 'ask' ? calls('advise') : says('yes');
    });
    const prompts = {
      toolDescription: 'a prompt',
      model: 'scripted',
      includeChat: true,
      includePastTools: true,
    };
    const registry = registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' } })],
      prompts: [
        definePrompt({ ...prompts, name: 'main', prompt: 'You help.', tools: ['advise'] }),
        definePrompt({ ...prompts, name: 'advise', prompt: 'You advise.', guards: SMALL }),
      ],
      models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    });
    const thread = await talkative(model, undefined, { registry });
    await thread.say(5);
    await thread.say(1, 6);
    await thread.client.queueMessage(thread.id, { content: 'ask' });
    await thread.client.waitForIdle(thread.id);
    const advised = model.requests.filter(({ messages: [system] }) => system?.content === 'You advise.');
    expect(advised).toHaveLength(1);
    expect(shown(advised[0] as RecordedRequest).slice(0, 2)).toEqual([
      'system: You advise.',
      'system: [compacted] Summary of the 8 messages before this point:\nsummary',
    ]);
    expect(await thread.compacted()).toMatchObject([{ prompt: 'advise', messages: 8 }]);
    const asked = thread.answers().filter(({ messages: [system] }) => system?.content === 'You help.');
    // The system text, six messages with their answers, and the last message with a call and its result.
    expect(asked.at(-1)?.messages).toHaveLength(16);
  });
});

describe('a model with a small window', () => {
  const WINDOW = 2000;

  it('is never sent more than it holds, and every message reaches a request or a summary', async () => {
    const model = speaker(() => says('summary'));
    const registry = registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, guards: { compaction: true } })],
      prompts: [
        definePrompt({
          ...{ name: 'main', toolDescription: 'the main prompt', prompt: 'You help.', model: 'scripted' },
          includeChat: true,
        }),
      ],
      models: [
        defineModel({
          ...{ name: 'scripted', provider: model.provider, model: 'scripted-1' },
          capabilities: { maxContextTokens: WINDOW, maxOutputTokens: 200 },
        }),
      ],
    });
    const thread = await talkative(model, undefined, { registry });
    const filler = 'x'.repeat(1000);
    for (let index = 1; index <= 12; index += 1) await thread.word(`word ${index} ${filler}`);
    const sizes = model.requests.map((request) => prepareManifest(request).totalEstimatedTokens);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(WINDOW);
    const compacted = await thread.compacted();
    expect(compacted.length).toBeGreaterThan(2);
    expect(new Set(compacted.map(({ reason }) => reason))).toEqual(new Set(['window']));
    expect(eventsOf(await thread.events(), 'context.trimmed')).toEqual([]);
    const records = model.requests.filter(isSummary).map(({ messages }) => String(messages[1]?.content));
    const last = JSON.stringify(model.requests.at(-1)?.messages);
    for (let word = 1; word <= 12; word += 1)
      expect([...records, last].some((text) => text.includes(`word ${word} x`))).toBe(true);
  });
});

describe('a thread without compaction', () => {
  it('has no summary, no event and no other request', async () => {
    const thread = await talkative(speaker(), undefined);
    await thread.say(6);
    expect(thread.model.requests).toHaveLength(6);
    expect(await thread.compacted()).toEqual([]);
  });
});
