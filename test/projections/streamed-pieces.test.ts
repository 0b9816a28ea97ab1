/** Reasoning and the arguments of calls while they stream, for pages of `useChat` and clients of AG-UI. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { answerIdOf } from '../../src/core/message/answer-id.ts';
import { clientToolName } from '../../src/core/project/client-tool.ts';
import type { AgUiEvent } from '../../src/projections/ag-ui/ag-ui-event.ts';
import { projectAgUi } from '../../src/projections/ag-ui/ag-ui-projection.ts';
import { beginAgUi } from '../../src/projections/ag-ui/ag-ui-state.ts';
import { projectChat } from '../../src/projections/ai-sdk/chat-projection.ts';
import { beginChat } from '../../src/projections/ai-sdk/chat-state.ts';
import { UI_DIALECTS, type UiChunk, type UiDialect } from '../../src/projections/ai-sdk/ui-chunk.ts';
import { type Row, rowsOf } from './row.ts';

const THREAD = 'thread-1';
const ANSWER = answerIdOf(THREAD, 1);
const began: Row = ['execution.started', { executionId: 'x-1' }];
const ended: Row = ['execution.ended', { executionId: 'x-1', reason: 'stop_on_response' }];
const started: Row = ['step.started', {}, { step: 1 }];
const piece = (more: object, call = 1): Row => ['model.chunk', { delta: '', call, ...more }, { step: 1 }];
const thought = (reasoning: string, call = 1) => piece({ reasoning }, call);
const input = (callId: string, delta: string, call = 1) =>
  piece({ input: { callId, name: 'add', delta } }, call);
const discarded: Row = ['attempt.discarded', { attempt: 1, call: 1, reason: 'WorkerLost' }, { step: 1 }];
const message = (id: string, role: string, content: string | null, more = {}): Row => [
  'message.created',
  { messageId: id, role },
  { message: { id, content, silent: false, metadata: {}, created_at: 100, ...more } as never },
];
const committed = (content: string, ...calls: readonly (readonly [id: string, args: string])[]): Row[] => [
  message(ANSWER, 'assistant', content, {
    tool_calls: JSON.stringify(
      calls.map(([id, args]) => ({ id, function: { name: 'add', arguments: args } })),
    ),
  }),
  ['step.committed', { messageId: ANSWER, model: 'm', finishReason: 'stop' }, { step: 1 }],
  ...calls.map(([callId]): Row => ['tool.called', { name: 'add', callId }]),
];
const ran = (callId: string): Row[] => [
  ['tool.started', { name: 'add', callId }],
  message(`r-${callId}`, 'tool', '3'),
  ['tool.result', { name: 'add', callId, status: 'success' }],
];

function chatOf(rows: readonly Row[], dialect: UiDialect = 6): UiChunk[] {
  let reading = beginChat(dialect);
  return rowsOf(...rows).flatMap((row) => {
    const [next, chunks] = projectChat(reading, row);
    reading = next;
    return chunks;
  });
}

function agUiOf(rows: readonly Row[]): AgUiEvent[] {
  let reading = beginAgUi(THREAD);
  return rowsOf(...rows).flatMap((row) => {
    const [next, events] = projectAgUi(reading, row);
    reading = next;
    return events;
  });
}

interface Page {
  readonly parts: readonly {
    type: string;
    state?: string;
    toolCallId?: string;
    text?: string;
    input?: unknown;
  }[];
}

/** The message as the published package of a major shows it in the end. */
async function pageOf(rows: readonly Row[], dialect: UiDialect): Promise<Page['parts']> {
  const path = createRequire(import.meta.url).resolve(`ai-sdk-react-${dialect}`);
  const ai = await import(pathToFileURL(createRequire(path).resolve('ai')).href);
  const stream = ReadableStream.from(chatOf(rows, dialect));
  let last: Page = { parts: [] };
  for await (const shown of ai.readUIMessageStream({ stream, terminateOnError: true })) last = shown as Page;
  return last.parts;
}

const tools = (parts: Page['parts']) =>
  parts.flatMap(({ type, toolCallId, state, input: given }) =>
    type === 'dynamic-tool' ? [{ toolCallId, state, input: given }] : [],
  );

const WHOLE: Row[] = [
  ...[began, started, thought('I th'), thought('ink.'), piece({ delta: 'Adding.' })],
  ...[input('c1', '{"a":'), input('c2', '{"a"'), input('c1', '1}'), thought('More.')],
  ...committed('Adding.', ['c1', '{"a":1}'], ['c2', '{"a":2}']),
  ...ran('c1'),
  ...ran('c2'),
  ended,
];

describe('a useChat page', () => {
  it('gets reasoning until text or arguments follow, and arguments until the call is made', () => {
    const types = chatOf(WHOLE).map((chunk) => ('id' in chunk ? `${chunk.type} ${chunk.id}` : chunk.type));
    expect(types.slice(2, 17)).toEqual([
      ...['reasoning-start 1.1.1.r1', 'reasoning-delta 1.1.1.r1', 'reasoning-delta 1.1.1.r1'],
      ...['reasoning-end 1.1.1.r1', 'text-start 1.1.1', 'text-delta 1.1.1'],
      ...['tool-input-start', 'tool-input-delta', 'tool-input-start', 'tool-input-delta', 'tool-input-delta'],
      ...['reasoning-start 1.1.1.r2', 'reasoning-delta 1.1.1.r2', 'reasoning-end 1.1.1.r2', 'text-end 1.1.1'],
    ]);
  });

  it.each(UI_DIALECTS)(
    'of AI SDK %i shows both as parts, and the calls as they were made',
    async (dialect) => {
      const parts = await pageOf(WHOLE, dialect);
      expect(parts.filter(({ type }) => type === 'reasoning')).toMatchObject([
        { text: 'I think.', state: 'done' },
        { text: 'More.', state: 'done' },
      ]);
      expect(tools(parts)).toEqual([
        { toolCallId: 'c1', state: 'output-available', input: { a: 1 } },
        { toolCallId: 'c2', state: 'output-available', input: { a: 2 } },
      ]);
    },
  );

  it.each(UI_DIALECTS)(
    'of AI SDK %i never shows a dropped, repaired or removed call with its streamed arguments',
    async (dialect) => {
      const rows: Row[] = [
        ...[began, started, input('gone', '{"a":1}'), input('c1', '{"a":'), input('c2', '{}')],
        ...committed('', ['c1', '{"a":5}'], ['c2', '{}']),
        ...ran('c1'),
        ['tool.removed', { name: 'add', callId: 'c2' }],
        ended,
      ];
      expect(tools(await pageOf(rows, dialect))).toMatchObject([
        { toolCallId: 'gone', state: 'output-error' },
        { toolCallId: 'c1', state: 'output-available', input: { a: 5 } },
        { toolCallId: 'c2', state: 'output-error' },
      ]);
      const called = chatOf(rows, dialect).filter(({ type }) => type === 'tool-input-available');
      expect(called).toMatchObject([{ toolCallId: 'c1', input: { a: 5 } }]);
    },
  );

  it.each(UI_DIALECTS)('of AI SDK %i drops the parts streamed by a discarded request', async (dialect) => {
    for (const gone of [[discarded], []]) {
      const rows: Row[] = [
        ...[began, started, thought('Wrong.'), input('c1', '{"a":'), ...gone, thought('Right.', 2)],
        ...[input('c2', '{"a"', 2), ...committed('', ['c2', '{"a":2}']), ...ran('c2'), ended],
      ];
      const note = chatOf(rows, dialect).find(({ type }) => type === 'data-attempt');
      if (dialect !== 7) expect(note).toMatchObject({ data: { discarded: ['1.1.1.r1'] } });
      const parts = await pageOf(rows, dialect);
      expect(tools(parts).filter(({ state }) => state !== 'output-error')).toEqual([
        { toolCallId: 'c2', state: 'output-available', input: { a: 2 } },
      ]);
      if (dialect === 7) expect(JSON.stringify(parts)).not.toMatch(/Wrong|c1/);
    }
  });

  it.each(UI_DIALECTS)(
    'of AI SDK %i has no open part once the response ends, at any place',
    async (dialect) => {
      for (let length = 3; length < WHOLE.length; length++) {
        const parts = await pageOf([...WHOLE.slice(0, length), ended], dialect);
        expect(parts.map(({ state }) => state)).not.toContain('streaming');
        expect(parts.map(({ state }) => state)).not.toContain('input-streaming');
      }
    },
  );
});

describe('an AG-UI client', () => {
  it('gets reasoning as separate messages, and the arguments of a call as deltas', () => {
    const told = agUiOf(WHOLE).map((event) => {
      const of = 'messageId' in event ? event.messageId : 'toolCallId' in event ? event.toolCallId : '';
      return `${event.type} ${of} ${'delta' in event ? event.delta : ''}`.trim();
    });
    const [r1, r2] = ['reasoning-1.1.1.1', 'reasoning-1.1.1.2'];
    expect(told.slice(2, -4)).toEqual([
      ...[`REASONING_START ${r1}`, `REASONING_MESSAGE_START ${r1}`],
      ...[`REASONING_MESSAGE_CONTENT ${r1} I th`, `REASONING_MESSAGE_CONTENT ${r1} ink.`],
      ...[`REASONING_MESSAGE_END ${r1}`, `REASONING_END ${r1}`],
      ...[`TEXT_MESSAGE_START ${ANSWER}`, `TEXT_MESSAGE_CONTENT ${ANSWER} Adding.`],
      ...['TOOL_CALL_START c1', 'TOOL_CALL_ARGS c1 {"a":', 'TOOL_CALL_START c2', 'TOOL_CALL_ARGS c2 {"a"'],
      'TOOL_CALL_ARGS c1 1}',
      ...[`REASONING_START ${r2}`, `REASONING_MESSAGE_START ${r2}`, `REASONING_MESSAGE_CONTENT ${r2} More.`],
      ...[`REASONING_MESSAGE_END ${r2}`, `REASONING_END ${r2}`, `TEXT_MESSAGE_END ${ANSWER}`],
      ...['TOOL_CALL_END c1', 'TOOL_CALL_ARGS c2 :2}', 'TOOL_CALL_END c2'],
    ]);
  });

  it.each<[string, Row[]]>([
    ['dropped', committed('')],
    ['repaired', committed('', ['c1', '{"a":5}'])],
    ['discarded', [discarded]],
  ])('drops a call that is %s by a snapshot', (_how, then) => {
    const told = agUiOf([began, started, input('c1', '{"a":1'), ...then]);
    const at = told.findIndex(({ type }) => type === 'TOOL_CALL_END');
    expect(told[at + 1]).toMatchObject({ type: 'MESSAGES_SNAPSHOT' });
    expect(told.filter(({ type }) => type === 'TOOL_CALL_END')).toHaveLength(1);
  });

  it('does not get deltas of its own tools’ arguments, since it runs complete calls', () => {
    const own = piece({ input: { callId: 'c1', name: clientToolName('look'), delta: '{' } });
    expect(agUiOf([began, started, own]).map(({ type }) => type)).not.toContain('TOOL_CALL_START');
  });
});
