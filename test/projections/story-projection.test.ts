/** The log as a story: what each event says, that it may begin at any execution, and that texts of others are harmless. */
import { describe, expect, it } from '@jest/globals';
import type { EventData, EventKind } from '../../src/core/event/thread-event.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { projectStory } from '../../src/projections/story/story-projection.ts';
import type { StoryRow } from '../../src/projections/story/story-row.ts';
import { BEGUN_STORY } from '../../src/projections/story/story-state.ts';
import { type Row, rowsOf } from './row.ts';

function readStory(rows: readonly LogRow[]): StoryRow[] {
  let story = BEGUN_STORY;
  return rows.flatMap((row) => {
    const [next, told] = projectStory(story, row);
    // The state between two rows is plain JSON.
    story = JSON.parse(JSON.stringify(next));
    return told;
  });
}

const lines = (...rows: Row[]) => readStory(rowsOf(...rows)).map(({ kind, line }) => `${kind}: ${line}`);
const line = (type: EventKind, data: object, step = 3) => lines([type, data, { step }]).join('\n');

const said = (id: string, role: string, content: string, more: object = {}, place: object = {}): Row => [
  'message.created',
  { messageId: id, role },
  { message: { id, role, content, metadata: {}, ...more } as never, ...place },
];
const usage = { promptTokens: 1204, completionTokens: 88, totalTokens: 1292, cachedTokens: 800 };
const called = (data: object = {}): Row => [
  'model.called',
  { model: 'm', modelId: 'm-1', call: 1, ...data },
  { step: 1 },
];
const turn = (id: string): Row[] => [
  ['execution.started', { executionId: id }],
  said(`${id}-q`, 'user', 'How is the weather?'),
  ['step.started', { items: 1 }, { step: 1 }],
  called(),
  said(
    `${id}-a`,
    'assistant',
    '',
    {
      tool_calls: JSON.stringify([
        { id: `${id}-c`, function: { name: 'look', arguments: '{"at":"Paris"}' } },
      ]),
    },
    { step: 1 },
  ),
  ['model.answered', { call: 1, usage, cost: 0.0021 }, { step: 1 }],
  ['step.committed', { messageId: `${id}-a`, model: 'm', finishReason: 'tool_calls', usage }, { step: 1 }],
  ['tool.called', { name: 'look', callId: `${id}-c` }, { step: 1 }],
  ['tool.started', { name: 'look', callId: `${id}-c` }, { step: 1 }],
  said(`${id}-r`, 'tool', 'sunny', {}, { step: 1 }),
  ['tool.result', { name: 'look', callId: `${id}-c`, status: 'success' }, { step: 1 }],
  ['execution.ended', { executionId: id, reason: 'stop_on_response' }],
  ['thread.status', { status: 'idle', reason: 'stop_on_response' }],
];

describe('the story of a thread', () => {
  it('tells a turn: messages, one line for a request, its answer, a call and its result', () => {
    expect(lines(...turn('e'))).toEqual([
      'status: A turn begins.',
      'message: user: How is the weather?',
      'step: Step 1 asks the model "m".',
      'step: Step 1 is answered by "m" after 2 ms: 1,204 tokens in (800 cached), 88 out, $0.0021.',
      'tool: Step 1 calls "look" with {"at":"Paris"}',
      'tool: "look" returned after 2 ms: sunny',
      'status: The turn is over: the model has answered.',
    ]);
  });

  it('gives each row its place, its event and the cause as data, without stacks and large values', () => {
    const [row] = readStory(
      rowsOf([
        'hook.failed',
        {
          id: 'h',
          hook: 'after_tool_call_success',
          error: 'x'.repeat(2000),
          stack: 'at …',
          large: { a: 'y'.repeat(3000) },
        },
        { step: 3 },
      ]),
    );
    expect(row).toMatchObject({
      seq: 1,
      at: 1_700_000_000_000_000,
      step: 3,
      attempt: 1,
      type: 'hook.failed',
      kind: 'error',
    });
    expect(Object.keys(row?.data ?? {})).toEqual(['id', 'hook', 'error']);
    expect(String(row?.data.error)).toHaveLength(500);
  });

  it('says why a step begins again', () => {
    const retried = (data: object) => line('step.retried', { reason: 'why', ...data });
    expect(retried({ cause: 'worker_lost' })).toBe(
      'lost: Step 3 begins again (attempt 1): its worker was lost. What was stored is kept, and an answer that was not complete is asked for again.',
    );
    expect(retried({ cause: 'worker_shutdown', handedOver: true, queuedMs: 3200 })).toBe(
      'lost: Step 3 begins again (attempt 1): its worker has shut down, and another one goes on. It waited 3.2 s for a free worker.',
    );
    expect(retried({ cause: 'budget', reason: 'other requests had reserved the rest of its budget' })).toBe(
      'budget: Step 3 begins again (attempt 1): other requests had reserved the rest of its budget.',
    );
  });

  it('says what follows a failed request, and which model replaces another', () => {
    const failed = (data: object) =>
      lines(called(), [
        'model.failed',
        { call: 1, code: 'server_error', statusCode: 500, message: 'overloaded', ...data },
        { step: 1 },
      ]).at(-1);
    expect(failed({ retryInMs: 2000 })).toBe(
      'retry: "m" failed (server_error, HTTP 500): overloaded. It is asked again in 2 s.',
    );
    expect(failed({ retryInMs: 0 })).toMatch(/^retry: .* It is asked again at once\.$/);
    expect(failed({ plain: true })).toMatch(/^retry: .* at once, without streaming\.$/);
    expect(failed({ tooLong: true, smaller: true })).toMatch(
      /^retry: .* The request is sent again with less in it\.$/,
    );
    expect(failed({ retryInMs: 0, withoutTool: 'look' })).toMatch(
      /^retry: .* without the tool "look", for the rest of the turn\.$/,
    );
    expect(failed({ fallback: true })).toBe(
      'fallback: "m" failed (server_error, HTTP 500): overloaded. The next model is asked.',
    );
    expect(failed({})).toBe('error: "m" failed (server_error, HTTP 500): overloaded.');
    expect(lines(called({ model: 'b', insteadOf: { model: 'm', code: 'rate_limit' } }))).toEqual([
      'fallback: Step 1 asks the model "b" instead of "m" (rate_limit).',
    ]);
    expect(lines(called({ heldMs: 3200 }))).toEqual([
      'limit: Step 1 asks the model "m", after 3.2 s in its line.',
    ]);
  });

  it('says why a model is not asked for now', () => {
    const held = (data: object) =>
      line('model.held', { model: 'm', retryInMs: 30_000, refusals: 0, ...data });
    expect(held({ by: 'refusals', refusals: 2 })).toBe(
      'limit: "m" takes no request for now: its provider is busy and has refused 2 requests of this step. It is asked again in 30 s.',
    );
    expect(held({ by: 'concurrency' })).toMatch(
      /as many requests as its definition allows are running \(concurrency\)/,
    );
    expect(line('model.waiting', { call: 1, afterMs: 15_000 })).toBe(
      'wait: The model has not begun to answer after 15 s.',
    );
  });

  it('says what was left out of a request, and why', () => {
    const trimmed = (data: object) => line('context.trimmed', { messages: 12, ...data });
    expect(trimmed({ room: 6000 })).toBe(
      'trim: 12 older messages were left out of the request of step 3: the window of the model has room for about 6,000 tokens of messages.',
    );
    expect(trimmed({ room: 128_000, assumed: true })).toMatch(
      /no model declares its window \(maxContextTokens\), so about 128,000 tokens are assumed\.$/,
    );
    expect(trimmed({ messages: 1, model: 'small' })).toBe(
      'trim: 1 older message was left out of the request of step 3: the window of "small" has no room for more.',
    );
    const compacted = (data: object) =>
      line('context.compacted', {
        prompt: 'p',
        messages: 14,
        covered: 14,
        messageId: 'm',
        summary: 'S',
        ...data,
      });
    expect(compacted({ reason: 'messages', size: 22, limit: 20 })).toBe(
      'compaction: A summary replaces 14 older messages: there were 22 messages, more than 20.',
    );
    expect(compacted({ reason: 'window', size: 7000, limit: 6000 })).toMatch(
      /take about 7,000 tokens, and the window of the model has room for 6,000\.$/,
    );
    expect(
      compacted({ reason: 'chars', size: 50_000, limit: 48_000, fallback: true, because: 'failed' }),
    ).toBe(
      'compaction: A summary replaces 14 older messages: there were 50,000 characters, more than 48,000. It is an excerpt: the model that was asked for it failed.',
    );
    // Rows of older workers.
    expect(compacted({ reason: 'window' })).toMatch(/: not all of them fit the window of the model\.$/);
    expect(trimmed({})).toMatch(/: the window of the model has no room for more\.$/);
  });

  it('says how a call was repaired, refused, cut off or lost', () => {
    const ended = (data: object) =>
      line('tool.result', { name: 'look', callId: 'c', status: 'error', ...data });
    expect(
      lines(['tool.called', { name: 'look', callId: 'c', repaired: ['unwrapped'] }, { step: 1 }]),
    ).toEqual([
      'tool: Step 1 calls "look".',
      'repair: That call of "look" was repaired: text around its arguments was removed.',
    ]);
    expect(
      line('step.committed', { messageId: 'a', model: 'm', finishReason: 'stop', droppedCalls: 2 }),
    ).toBe(
      'step: Step 3 is answered by "m".\nrepair: 2 calls without a name were dropped from the answer of "m".',
    );
    expect(ended({ settled: 'stopped' })).toBe('tool: "look" has no result: the turn was stopped.');
    expect(ended({ settled: 'budget' })).toBe(
      'tool: "look" has no result: the budget of the turn is used up.',
    );
    expect(
      lines(said('r', 'tool', 'There is no tool look.'), [
        'tool.result',
        { name: 'look', callId: 'c', status: 'error', refused: true },
      ]),
    ).toEqual(['tool: "look" did not run: There is no tool look.']);
    expect(line('tool.unknown', { name: 'look', callId: 'c', status: 'error' })).toBe(
      'lost: The worker that ran "look" was lost: whether it has taken effect is unknown, and it is not run again.',
    );
  });

  it('says what is waited for, how it ended, and what the budget allows', () => {
    const wait = { waitId: 'w-1', kind: 'approval', name: 'refund' };
    expect(
      line('wait.opened', { ...wait, summary: 'refund 42 euros', expiresAt: 1_800_000_000_000_000 }),
    ).toBe(
      'wait: The thread waits for a person to approve "refund" (wait w-1): refund 42 euros. It waits until 2027-01-15 08:00 UTC.',
    );
    expect(line('wait.answered', { ...wait, approved: true, scope: 'thread', by: 'ada' })).toBe(
      'wait: ada approves "refund", for this thread.',
    );
    expect(line('wait.answered', { ...wait, approved: false, reason: 'too much' })).toBe(
      'wait: A person denies "refund": too much.',
    );
    expect(line('wait.closed', { ...wait, reason: 'expired' })).toBe(
      'wait: The wait for "refund" is over, unanswered: its time is up.',
    );
    const budget = { executionId: 'e', limit: 'maxSteps', max: 10 };
    expect(line('budget.warning', { ...budget, used: 8 })).toBe(
      'budget: The budget is nearly used up: 8 of 10 steps.',
    );
    expect(line('budget.exceeded', { ...budget, limit: 'maxCost', max: 0.5, observed: 0.52 })).toBe(
      'budget: The budget is used up: it would be $0.52 of $0.5. The turn ends.',
    );
    expect(
      line('loop.warning', { name: 'look', callId: 'c', detector: 'generic_repeat', count: 4, limit: 8 }),
    ).toBe(
      'loop: The model has called "look" 4 times in a row with the same arguments: its next request has a reminder; at 8 calls the turn ends.',
    );
    expect(line('tool.started', { name: 'look', callId: 'c', queuedMs: 3200 })).toBe(
      'wait: "look" waited 3.2 s for a free worker.',
    );
    expect(line('step.started', { items: 1, queuedMs: 250 })).toBe(
      'wait: Step 3 waited 250 ms for a free worker.',
    );
  });

  it('passes a streamed text on, and says when it is discarded', () => {
    const chunk = (delta: string, more: object = {}): Row => [
      'model.chunk',
      { delta, call: 1, ...more },
      { step: 1 },
    ];
    expect(
      lines(
        ['step.started', { side: 'b' }, { step: 1 }],
        chunk('Hel\nlo'),
        chunk('', { reasoning: 'hm' }),
        chunk('of a sub-prompt', { depth: 1 }),
        ['attempt.discarded', { attempt: 1, call: 1, reason: 'WorkerLost' }, { step: 1 }],
      ),
    ).toEqual(['text: Hel\nlo', 'retry: What step 1 has written so far is discarded: its worker was lost.']);
    expect(readStory(rowsOf(['step.started', { side: 'b' }, { step: 1 }], chunk('Hello')))[0]?.data).toEqual({
      call: 1,
      side: 'b',
    });
  });

  it('tells the same of an execution, whether or not it began with an earlier one', () => {
    // The first ends within a call, and the second uses its id again.
    const open: Row[] = [
      ['tool.started', { name: 'look', callId: 'c' }, { step: 1 }],
      called(),
      ['execution.ended', { executionId: 'one', reason: 'stop_on_response' }],
    ];
    const again: Row[] = [
      ['model.waiting', { call: 1 }, { step: 1 }],
      ['tool.result', { name: 'look', callId: 'c', status: 'success' }],
    ];
    const all = rowsOf(
      ['thread.created', { agent: 'desk' }],
      ...turn('one').slice(0, -2),
      ...open,
      ...turn('two').slice(0, 1),
      ...again,
      ...turn('two').slice(1),
    );
    const from = all.findIndex(
      ({ event }) => event.type === 'execution.started' && event.data.executionId === 'two',
    );
    expect(from).toBeGreaterThan(1);
    const whole = readStory(all).filter(({ seq }) => seq > from);
    expect(whole.length).toBeGreaterThan(5);
    expect(readStory(all.slice(from))).toEqual(whole);
  });

  it('says nothing of a kind that a newer worker writes', () => {
    expect(readStory(rowsOf(['thread.dreamt', { of: 'sheep' }]))).toEqual([]);
  });
});

/** What others may write: `~` stands for it. */
const HOSTILE = [
  '\u001b]0;owned\u0007\u001b[2J\u001b[31mred',
  '\u009b31m\u0085\u0000\u007f',
  'abc\u202Ecba\u2066\u200f\u061c',
  'one\r\ntwo\n\u2028three\tfour',
  'w'.repeat(1_000_000),
  ' '.repeat(1_000_000),
  '\ud800',
  '<script>alert(1)</script>',
];

const call = { name: '~', callId: '~' };
const action = { actionId: '~', name: '~' };
const wait = { waitId: '~', kind: 'approval', name: '~' } as const;
const file = { path: '~', mimeType: '~', size: 1 };
const failure = { code: '~', message: '~' };
const child = { childId: '~', agent: '~' };
const limited = {
  executionId: '~',
  threadId: '~',
  limit: 'maxSteps',
  max: 1,
  policy: '~',
  reason: '~',
} as const;

/** An event of each kind, in which `~` is text of others. */
const SAMPLES: { readonly [Kind in EventKind]: EventData[Kind] } = {
  'thread.created': { agent: '~', parentId: '~', name: '~' },
  'thread.forked': { from: '~', at: 1, agent: '~', messages: 2, state: 'head', effects: [] },
  'thread.status': { status: 'failed', error: failure as never },
  'thread.agent': { from: '~', to: '~' },
  'thread.terminated': { reason: '~' },
  'execution.started': { executionId: '~' },
  'execution.ended': { executionId: '~', reason: 'canceled', cancelReason: '~', by: '~' },
  'execution.aborted': { status: 'stopped', keptText: true },
  'produced.line': { type: '~', data: { '~': '~' } },
  'produced.ended': { executionId: '~', error: failure as never },
  'budget.warning': { ...limited, used: 1 },
  'budget.exceeded': { ...limited, observed: 1 },
  'item.queued': { id: '~', kind: 'message' },
  'item.rejected': { id: '~', code: 'InvalidValue', reason: '~' },
  'message.created': { messageId: '~', role: 'user' },
  'message.updated': { messageId: '~', role: 'user' },
  'message.deleted': { messageId: '~' },
  'messages.superseded': { from: 1, to: 2, reason: 'edit', messageId: '~', messages: 3 },
  'attachment.missing': { messageId: '~', paths: ['~', '~'] },
  'step.started': { prompt: '~', parentStep: 1, callId: '~' },
  'step.retried': { reason: '~', cause: 'budget' },
  'step.committed': { messageId: '~', model: '~', finishReason: '~', droppedCalls: 1 },
  'output.rejected': { text: '~', problems: '~', count: 1, model: '~', finishReason: '~' },
  'step.failed': failure as never,
  'context.trimmed': { messages: 2, model: '~' },
  'context.undercounted': { call: 1, model: '~', estimated: 2, counted: 1 },
  'context.compacted': {
    prompt: '~',
    messages: 1,
    covered: 1,
    messageId: '~',
    summary: '~',
    reason: 'chars',
  },
  'context.prepared': { model: '~' } as never,
  'model.called': { model: '~', modelId: '~', call: 1, insteadOf: { model: '~', code: '~' } },
  'model.chunk': { delta: '~', call: 1 },
  'model.answered': { call: 1, usage: null, cost: null },
  'model.failed': { ...(failure as object), call: 1, withoutTool: '~' },
  'model.waiting': { call: 1 },
  'model.held': { model: '~', retryInMs: 1, refusals: 1 },
  'attempt.discarded': { attempt: 1, call: 1, reason: '~' },
  'tool.called': { ...call, repaired: ['name'] },
  'tool.started': { ...call, queuedMs: 100 },
  'tool.result': { ...call, status: 'error' },
  'tool.unknown': { ...call, status: 'error' },
  'tool.late_result': { ...call, status: 'success', result: '~', attempt: '~' },
  'tool.removed': call,
  'tool.invoked': { name: '~', status: 'success', durationMs: 1 },
  'mcp.listed': { server: '~', tools: ['~'], changed: ['~'], left: [{ tool: '~', why: '~' }] },
  'mcp.failed': { server: '~', code: '~', error: '~' },
  'a2a.task': { agent: '~', taskId: '~', contextId: '~' },
  'loop.warning': { ...call, detector: 'ping_pong', count: 4 },
  'loop.critical': { ...call, detector: 'no_progress', count: 8 },
  'action.requested': { ...action, kind: 'tool.call', capabilities: ['~'], fingerprint: '~', artifacts: [] },
  'action.policy': { ...action, effect: 'deny', reason: '~', policy: '~' } as never,
  'action.denied': { ...action, code: 'ActionDenied', reason: '~' },
  'action.started': action,
  'action.completed': action,
  'action.failed': { ...action, error: '~' },
  'action.uncertain': action,
  'action.reconciled': { ...action, completed: true, note: '~', by: '~' },
  'hook.failed': { id: '~', hook: null, error: '~' },
  'code.stray': { code: 'tool', name: '~', kind: '~', error: '~' },
  'code.note': { code: 'tool', name: '~', note: '~' },
  'effect.scheduled': { id: '~', name: '~', dueAt: 1_700_000_000_000_000 },
  'effect.started': { id: '~', name: '~', attempt: 2 },
  'effect.done': { id: '~', name: '~' },
  'effect.failed': { id: '~', name: '~', error: failure as never },
  'effect.cancelled': { id: '~', name: '~' },
  'subagent.created': { ...child, name: '~' },
  'subagent.messaged': { ...child, messageId: '~' },
  'subagent.notified': { childId: '~', messageId: '~' },
  'subagent.status': { childId: '~', status: '~' },
  'subagent.returned': { ...child, kind: 'result', by: 'call', reason: '~' },
  'subagent.failed': { ...child, kind: 'failure', by: 'message', reason: '~' },
  'variables.requested': { requestId: '~', agent: '~', required: ['~'], missing: ['~'] },
  'wait.opened': { ...wait, threadId: '~', summary: '~', expiresAt: null },
  'wait.answered': { ...wait, approved: true, reason: '~', by: '~' },
  'grant.revoked': { grantId: '~', name: '~', by: '~' },
  'wait.closed': { ...wait, threadId: '~', reason: '~', by: '~' },
  'task.created': { taskId: '~', name: '~', intent: '~' },
  'task.manifest': { from: '~', to: '~' },
  'task.checking': {},
  'task.asked': { questions: [{ question: '~' } as never] },
  'task.answered': { requirementIds: ['~'] },
  'task.acquiring': { plans: [] },
  'task.acquired': { evidenceIds: ['~'] },
  'task.readiness': {} as never,
  'task.observed': { score: 0.5, evals: 1, failing: ['~'] },
  'task.decided': { kind: 'stop' },
  'task.acting': { idempotencyKey: '~' },
  'task.acted': { ok: false, code: '~', error: '~', spentCostUsd: 0 },
  'task.emitted': { event: { type: 'text_delta', text: '~' } as never },
  'task.failed': { phase: '~', message: '~' },
  'task.ended': {
    status: 'failed',
    steps: 1,
    spentCostUsd: 0,
    wallMs: 1,
    stoppedBy: 'budget',
    pass: false,
    reason: '~',
  },
  'value.changed': { key: '~' },
  'file.created': file,
  'file.updated': file,
  'file.deleted': file,
  custom: { event: '~', data: { '~': '~' } },
};

/** Replaces `~` in keys and texts. */
function poisoned(value: unknown, text: string): unknown {
  if (typeof value === 'string') return value === '~' ? text : value;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key === '~' ? text : key, poisoned(each, text)]),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no sentence may contain.
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('texts of others in a story', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text.slice(0, 24)), text]))(
    'are harmless, in one line and cut, in a sentence about any event: %s',
    (_, text) => {
      for (const [type, data] of Object.entries(SAMPLES)) {
        const message = {
          id: 'm',
          role: 'user',
          content: text,
          metadata: { subagent_name: text },
          tool_calls: JSON.stringify([{ id: text, function: { name: text, arguments: text } }]),
          attachments: null,
        };
        const row = (kind: string, given: unknown) =>
          rowsOf([kind, given as object, { step: 1, message: message as never }])[0] as LogRow;
        // A message and its calls come before what refers to them.
        const told = readStory([
          row('message.created', { messageId: 'm', role: 'user' }),
          row(type, poisoned(data, text)),
        ]);
        for (const { kind, line: shown, data: cause } of told) {
          expect(shown).not.toMatch(DANGEROUS);
          if (kind === 'text') continue;
          expect(shown).not.toContain('\n');
          expect([type, shown.length < 4000]).toEqual([type, true]);
          expect([type, JSON.stringify(cause).length < 8000]).toEqual([type, true]);
        }
      }
    },
  );
});
