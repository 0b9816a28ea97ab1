/**
 * The answer as read from a log: with discarded attempts, missed chunks, and messages from other sources. No server
 * needed.
 */
import { describe, expect, it } from '@jest/globals';
import { type AnswerPart, AnswerStream } from '../../../src/cli/answer/answer-stream.ts';
import { createLogger } from '../../../src/cli/output/logger.ts';
import type { EventKind, ThreadEvent } from '../../../src/core/event/thread-event.ts';
import type { Message } from '../../../src/core/message/message.ts';
import { escapeControls, shorten } from '../../../src/core/value/shown-text.ts';

interface Draft {
  readonly type: EventKind;
  readonly step?: number;
  readonly attempt?: number;
  readonly data?: object;
}

const chunk = (delta: string, attempt = 1, call = 0, step = 1): Draft => ({
  type: 'model.chunk',
  step,
  attempt,
  data: { delta, call },
});
const created = (messageId: string, role: string): Draft => ({
  type: 'message.created',
  data: { messageId, role },
});
const committed = (messageId: string): Draft => ({
  type: 'step.committed',
  step: 1,
  attempt: 1,
  data: { messageId, model: 'm', finishReason: 'stop' },
});

async function read(
  events: readonly Draft[],
  messages: Record<string, Partial<Message>> = {},
): Promise<unknown[]> {
  const stream = new AnswerStream(async (id) =>
    messages[id] ? ({ tool_calls: null, silent: false, ...messages[id] } as Message) : null,
  );
  const parts: AnswerPart[] = [];
  for (const [index, event] of events.entries())
    parts.push(...(await stream.read({ seq: index + 1, at: 0, data: {}, ...event } as ThreadEvent)));
  return parts.map(({ at: _at, ...part }) => part);
}

const text = (delta: string, side = 'a') => ({ kind: 'text', delta, side });
const restart = { kind: 'restart' };
const end = { kind: 'end', stopped: false };

describe('AnswerStream', () => {
  it('shows streamed text once and ends with the committed message', async () => {
    const events = [chunk('Hel'), chunk('lo'), created('m', 'assistant'), committed('m')];
    expect(await read(events, { m: { role: 'assistant', content: 'Hello' } })).toEqual([
      text('Hel'),
      text('lo'),
      end,
    ]);
  });

  it('[answer I4] shows the call of a prompt and its result, and none of its inner messages', async () => {
    const deep = (event: Draft): Draft => ({ ...event, step: 2, data: { ...event.data, depth: 1 } });
    const called: Draft = { type: 'tool.called', step: 1, data: { name: 'consult', callId: 'c' } };
    const result: Draft = { type: 'tool.result', step: 1, data: { name: 'consult', status: 'success' } };
    const inner = [created('first', 'user'), chunk('aside'), created('said', 'assistant'), committed('said')];
    const events = [chunk('Hm'), created('m', 'assistant'), committed('m'), called, ...inner.map(deep)];
    expect(
      await read([...events, created('r', 'tool'), result], {
        m: { role: 'assistant', content: 'Hm' },
        r: { role: 'tool', content: 'aside' },
      }),
    ).toEqual([
      text('Hm'),
      end,
      { kind: 'tool_call', name: 'consult', arguments: '{}' },
      { kind: 'tool_result', name: 'consult', status: 'success', content: 'aside' },
    ]);
  });

  it('[answer I1] a new attempt or model call takes back the streamed text, and late chunks of the old one are ignored', async () => {
    const events = [
      chunk('one'),
      chunk('two', 1, 1),
      chunk('late', 1, 0),
      chunk('three', 2, 0),
      created('m', 'assistant'),
      committed('m'),
    ];
    const parts = await read(events, { m: { role: 'assistant', content: 'three' } });
    expect(parts).toEqual([text('one'), restart, text('two'), restart, text('three'), end]);
  });

  it('[answer I1] a discarded attempt is taken back once, and nothing if none of it was shown', async () => {
    const discarded = (call: number): Draft => ({
      ...{ type: 'attempt.discarded', step: 1, attempt: 1 },
      data: { attempt: 1, call, reason: 'timeout' },
    });
    const events = [discarded(0), chunk('one', 1, 1), discarded(1), chunk('two', 1, 2)];
    const parts = await read([...events, created('m', 'assistant'), committed('m')], {
      m: { role: 'assistant', content: 'two' },
    });
    expect(parts).toEqual([text('one'), restart, text('two'), end]);
  });

  it('[answer I2] missed chunks are filled in from the committed message, at the end, in the middle or all', async () => {
    const messages = { m: { role: 'assistant', content: 'Hello' } } as const;
    const ending = [created('m', 'assistant'), committed('m')];
    expect(await read([chunk('Hel'), ...ending], messages)).toEqual([text('Hel'), text('lo'), end]);
    expect(await read([chunk('lo'), ...ending], messages)).toEqual([text('lo'), restart, text('Hello'), end]);
    expect(await read(ending, messages)).toEqual([text('Hello'), end]);
  });

  it('the messages of a second side are shown once under its name, though stored with the user role', async () => {
    const begun: Draft = { type: 'step.started', step: 1, attempt: 1, data: { side: 'b' } };
    const said = { ...created('m', 'user'), step: 1 };
    const parts = await read([begun, chunk('Why'), said, committed('m')], {
      m: { role: 'user', content: 'Why?' },
    });
    expect(parts).toEqual([text('Why', 'b'), text('?', 'b'), end]);
  });

  it('a stopped answer ends with the stored text', async () => {
    const aborted: Draft = {
      type: 'execution.aborted',
      step: 1,
      attempt: 1,
      data: { status: 'stopped', keptText: true },
    };
    const parts = await read([chunk('I begin'), created('m', 'assistant'), aborted], {
      m: { role: 'assistant', content: 'I begin' },
    });
    expect(parts).toEqual([text('I begin'), { kind: 'end', stopped: true }]);
  });

  it('tool calls carry their arguments, and results their content', async () => {
    const calls = JSON.stringify([
      { id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
    ]);
    const parts = await read(
      [
        created('m', 'assistant'),
        committed('m'),
        { type: 'tool.called', data: { name: 'weather', callId: 'c' } },
        created('r', 'tool'),
        { type: 'tool.result', data: { name: 'weather', callId: 'c', status: 'success' } },
      ],
      { m: { role: 'assistant', content: null, tool_calls: calls }, r: { role: 'tool', content: 'sunny' } },
    );
    expect(parts).toEqual([
      { kind: 'tool_call', name: 'weather', arguments: '{"city":"Paris"}' },
      { kind: 'tool_result', name: 'weather', status: 'success', content: 'sunny' },
    ]);
  });

  it('an assistant message outside a step is shown as a message', async () => {
    const parts = await read(
      [created('m', 'assistant'), { type: 'thread.status', data: { status: 'idle' } }],
      {
        m: { role: 'assistant', content: 'noted' },
      },
    );
    expect(parts).toEqual([
      { kind: 'message', role: 'assistant', content: 'noted', silent: false },
      { kind: 'status', status: 'idle', reason: null, error: null },
    ]);
  });
});

describe('text for terminals', () => {
  it('[terminal I1] control characters and overrides are shown as symbols, line breaks and tabs are kept', () => {
    expect(escapeControls('a\u001b[2J\r\nb\tc\u0007\u009b1m\u202ed\u007f')).toBe(
      'a␛[2J\nb\tc␇\\u{9b}1m\\u{202e}d␡',
    );
    expect(shorten('one\n  two three', 9)).toBe('one two …');
  });

  it("[log L1] Temporal's logs are silent at info, and its warnings are one line each", () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', format: 'text' }, (line) => lines.push(line));
    logger.info('Worker state changed', { sdkComponent: 'worker' });
    logger.info('ours', { agent: 'helper' });
    logger.warn('Activity\nfailed', {
      sdkComponent: 'worker',
      taskToken: 'x',
      activityType: 'modelStep',
      error: new Error('two\nlines'),
    });
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'INFO  ours agent=helper',
      'WARN  Activity␊failed activityType=modelStep error="two␊lines"',
    ]);
    const json: string[] = [];
    createLogger({ level: 'debug', format: 'json' }, (line) => json.push(line)).debug('x', { n: 1n });
    expect(JSON.parse(json.join())).toMatchObject({ level: 'DEBUG', message: 'x', n: '1' });
  });
});
