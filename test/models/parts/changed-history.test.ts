/** What becomes of the metadata of answers whose history changes: edits, deletions, summaries, bounds, refusals. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { textDigest } from '../../../src/activities/model-gate/assemble.ts';
import type { ContextMessage } from '../../../src/core/context/context.ts';
import { prepareManifest } from '../../../src/core/context/context-manifest.ts';
import { toProviderMessage } from '../../../src/core/context/context-provider.ts';
import { type AnswerParts, openParts, readParts, sealParts } from '../../../src/core/message/answer-parts.ts';
import { fromLLMMessages, toLLMMessage } from '../../../src/core/message/llm-message.ts';
import type { ProviderMessage } from '../../../src/core/message/provider.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';
import { FAMILIES, type Family, type Said, type ServedModel, serve } from './families.ts';
import { talk } from './talk.ts';

const open: ServedModel[] = [];
afterEach(async () => {
  for (const { server } of open.splice(0)) await server.close();
});

const LOOP: readonly Said[] = [
  { thoughts: ['First.'], text: 'I will add.', calls: [1] },
  { thoughts: ['Once more.'], calls: [2] },
  { thoughts: ['And more.'], calls: [3] },
];
/** The metadata of an answer, by its number. */
const OWN: Record<Family, (answer: number) => string> = {
  anthropic: (answer) => `sig ${answer} 0`,
  openai: (answer) => `enc ${answer}`,
  google: (answer) => `sig ${answer}`,
};

async function afterTwoAnswers(family: Family) {
  const served = await serve(family, 7, LOOP);
  open.push(served);
  const talking = talk();
  talking.say('1 + 2?');
  await talking.step(served.model);
  await talking.step(served.model);
  const last = () => JSON.stringify(served.server.requests.at(-1));
  return { ...served, ...talking, last };
}

const at = (rows: readonly ContextMessage[], role: string) => rows.findIndex((row) => row.role === role);

describe.each(FAMILIES)('a history with metadata of %s', (family) => {
  const own = OWN[family];

  it('is sent with its metadata, and without item ids, while it is unchanged', async () => {
    const { step, model, server, last } = await afterTwoAnswers(family);
    await step(model);
    expect(last()).toContain(own(0));
    expect(last()).toContain(own(1));
    expect(last()).not.toMatch(/item_reference|"(rs|msg|fc)_\d/);
    expect(server.refusals).toEqual([]);
  });

  it('is accepted after an answer was edited, which loses only the metadata of that answer', async () => {
    const { step, model, server, rows, last } = await afterTwoAnswers(family);
    const edited = at(rows, 'assistant');
    rows[edited] = { ...(rows[edited] as ContextMessage), content: 'I will [removed].' };
    await step(model);
    expect(last()).toContain('[removed]');
    expect(last()).not.toContain(own(0));
    // Anthropic's turn does not begin with its thinking any more, so it goes on without.
    if (family !== 'anthropic') expect(last()).toContain(own(1));
    expect(server.refusals).toEqual([]);
  });

  it('is accepted after an answer and its results were deleted', async () => {
    const { step, model, server, rows, last } = await afterTwoAnswers(family);
    rows.splice(at(rows, 'assistant'), 2);
    await step(model);
    expect(last()).not.toContain(own(0));
    expect(last()).toContain(own(1));
    expect(server.refusals).toEqual([]);
  });

  it('is accepted after its beginning was summarised', async () => {
    const { step, model, server, rows, say, last } = await afterTwoAnswers(family);
    rows.splice(0, at(rows, 'tool') + 1);
    const summary = {
      ...(rows[0] as ContextMessage),
      role: 'user',
      content: 'A summary.',
      parts: null,
    } as const;
    rows.unshift({ ...summary, tool_calls: null });
    await step(model);
    expect(last()).toContain(own(1));
    say('And now?');
    await step(model);
    expect(server.refusals).toEqual([]);
  });

  it('is sent again without metadata, as text, if the provider refuses it', async () => {
    const { step, model, server, rows, ends, last } = await afterTwoAnswers(family);
    for (const [index, row] of rows.entries())
      rows[index] = { ...row, parts: row.parts?.replaceAll(/(sig|enc) \d/g, 'expired') ?? null };
    const before = server.requests.length;
    await step(model);
    expect(server.requests).toHaveLength(before + 2);
    expect(ends.at(-2)?.outcome).toMatchObject({ ok: false, next: 'retry', withoutMetadata: true });
    expect(ends.at(-1)?.outcome).toMatchObject({ ok: true });
    expect(last()).not.toContain('expired');
    expect(last()).toContain('The tool \\"add\\" was called with {\\"a\\":2}. Its result: 3');
  });

  it('loses its metadata after the turn, unless the prompt includes reasoning', async () => {
    for (const includes of [false, true]) {
      const served = await serve(family, 7, LOOP);
      open.push(served);
      const { say, step, rows } = talk(includes);
      say('1?');
      await step(served.model);
      const { executionId: _, ...row } = rows[0] as ContextMessage;
      rows.push({ ...row, executionId: 'x1', role: 'assistant', content: 'Three.', prompt: 'main' });
      say('And now?');
      await step(served.model);
      expect(JSON.stringify(served.server.requests.at(-1)).includes(own(0))).toBe(includes);
      expect(served.server.refusals).toEqual([]);
    }
  });
});

const PARTS: AnswerParts = {
  origin: 'anthropic.messages:claude',
  list: [
    { type: 'reasoning', text: 'Hm.', metadata: { anthropic: { signature: 's' } } },
    { type: 'text', text: 'So' },
    { type: 'other', value: { type: 'source', url: 'https://example.com' } },
    { type: 'text', text: ' be it.' },
    { type: 'call', id: 'c1' },
  ],
};
const ANSWER = {
  content: 'So be it.',
  reasoning: 'Hm.',
  toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }],
};

describe('the parts of an answer', () => {
  it('are stored without their texts and restored unchanged', () => {
    const sealed = sealParts(PARTS, ANSWER, textDigest);
    expect(sealed).not.toContain('be it');
    expect(openParts(sealed, ANSWER, textDigest)).toEqual(PARTS);
  });

  it('keep their own reasoning if the answer is stored without it', () => {
    const { reasoning: _, ...answer } = ANSWER;
    expect(openParts(sealParts(PARTS, answer, textDigest), answer, textDigest)).toEqual(PARTS);
  });

  it('are dropped together if text, reasoning or a call has changed', () => {
    const sealed = sealParts(PARTS, ANSWER, textDigest);
    const [call] = ANSWER.toolCalls;
    for (const changed of [
      { content: 'So be that.' },
      { content: null },
      { reasoning: 'Hm!' },
      { toolCalls: [] },
      { toolCalls: [{ ...call, id: 'c1', name: 'add', arguments: { a: 2 } }] },
    ])
      expect(openParts(sealed, { ...ANSWER, ...changed }, textDigest)).toBeUndefined();
  });

  it('are not stored if they add nothing to the message, belong to another, or are too large', () => {
    const plain = PARTS.list
      .filter(({ type }) => type === 'call' || type === 'text')
      .map(({ metadata: _, ...part }) => part);
    const joined = [
      { type: 'text', text: 'So be it.' },
      { type: 'call', id: 'c1' },
    ] as const;
    expect(sealParts({ ...PARTS, list: joined }, ANSWER, textDigest)).toBeUndefined();
    expect(
      sealParts({ ...PARTS, list: plain.slice(1) as typeof PARTS.list }, ANSWER, textDigest),
    ).toBeUndefined();
    const signature = 'x'.repeat(LIMITS.answerPartsBytes);
    const large = PARTS.list.map((part) => ({ ...part, metadata: { anthropic: { signature } } }));
    expect(sealParts({ ...PARTS, list: large }, ANSWER, textDigest)).toBeUndefined();
  });

  it('are ignored if a provider returns invalid ones', () => {
    const cycle: Record<string, unknown> = { origin: 'x', list: [] };
    cycle.list = [{ type: 'other', value: cycle }];
    for (const value of [
      null,
      'x',
      {},
      { origin: 'x' },
      { origin: 'x', list: [{ type: 'text' }] },
      cycle,
      { origin: 'x', list: [1n] },
    ])
      expect(readParts(value)).toBeUndefined();
    expect(readParts(PARTS)).toEqual(PARTS);
  });

  it('are hidden from hooks, and restored to an answer that a hook leaves unchanged', () => {
    const before: ProviderMessage[] = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'So be it.', toolCalls: ANSWER.toolCalls, parts: PARTS },
    ];
    const shown = before.map(toLLMMessage);
    expect(JSON.stringify(shown)).not.toContain('signature');
    const cloned = structuredClone(shown);
    expect(fromLLMMessages(cloned, before).messages).toEqual(before);
    const changed = cloned.map((each) => (each.role === 'assistant' ? { ...each, content: 'No.' } : each));
    expect(fromLLMMessages(changed, before).messages[1]).not.toHaveProperty('parts');
  });

  it('are sent back within the turn like reasoning details, and later only with reasoning.include', () => {
    const { rows, say } = talk();
    say('go');
    const details = [{ type: 'encrypted', data: 'x' }];
    const row: ContextMessage = {
      ...(rows[0] as ContextMessage),
      ...{ role: 'assistant', content: 'So be it.', prompt: 'main', metadata: { reasoningDetails: details } },
    };
    const shown = (view: object) => toProviderMessage(row, { pictures: new Map(), ...view });
    expect(shown({ running: 'x1' })).toHaveProperty('reasoningDetails', details);
    expect(shown({ running: 'x2' })).not.toHaveProperty('reasoningDetails');
    expect(shown({ running: 'x2', reasoningOf: 'main' })).toHaveProperty('reasoningDetails', details);
  });

  it('count towards the size of a request', () => {
    const answer: ProviderMessage = { role: 'assistant', content: 'So be it.', toolCalls: ANSWER.toolCalls };
    const sizeOf = (messages: ProviderMessage[]) => prepareManifest({ messages }).totalEstimatedTokens;
    expect(sizeOf([{ ...answer, parts: PARTS }])).toBeGreaterThan(sizeOf([answer]) + 10);
  });
});
