/** What `worker` and `dev` print about their threads. */
import { expect, it } from '@jest/globals';
import { createLogListener } from '../../../src/cli/output/log-listener.ts';
import { ACTION_REQUIRED, createLogger } from '../../../src/cli/output/logger.ts';
import type { EventData, EventKind, ThreadEvent } from '../../../src/core/event/thread-event.ts';

const thread = { threadId: 't1', agent: 'helper' };

function tell(...events: [kind: EventKind, data: object, at?: number][]) {
  const told: string[] = [];
  const acts: boolean[] = [];
  const teller = createLogListener({
    log(level, message, metadata = {}) {
      told.push(`${level} ${message}`);
      acts.push(metadata[ACTION_REQUIRED] === true);
    },
  });
  events.forEach(([type, data, at = 0], n) => {
    teller.told(thread, { seq: n + 1, at: at * 1000, type, step: 1, data } as ThreadEvent);
  });
  return { told, acts };
}

const usage = { promptTokens: 120, completionTokens: 30, totalTokens: 150 };
const error = { code: 'auth_error', message: '401 from https://models.example/v1' };

it('a step is one line with its model, its time and its tokens, and so is a tool', () => {
  const committed = { messageId: 'm2', model: 'small', finishReason: 'tool_calls', usage };
  const { told } = tell(
    ['message.created', { messageId: 'm1', role: 'user' } satisfies EventData['message.created']],
    ['step.started', { items: 1 }, 100],
    ['step.committed', committed, 1600],
    ['tool.started', { name: 'weather', callId: 'c1' }, 1610],
    ['tool.result', { name: 'weather', callId: 'c1', status: 'success' }, 1650],
  );
  expect(told.filter((line) => !line.startsWith('DEBUG'))).toEqual([
    'INFO message (user)',
    'INFO step: small, 1.5 s, 120 tokens in, 30 out (tool_calls)',
    'INFO tool weather: success, 40 ms',
  ]);
});

it('failures and retries have their reason, and required actions are marked', () => {
  const { told, acts } = tell(
    ['model.failed', { call: 1, code: 'rate_limit', message: 'slow down', retryInMs: 2000 }],
    ['step.retried', { reason: 'WorkerLost' }],
    ['execution.ended', { executionId: 'e1', reason: 'error', status: 'failed', error }],
    [
      'wait.opened',
      { waitId: 'w1', kind: 'approval', name: 'refund', summary: 'Refund 4711?', expiresAt: null },
    ],
  );
  expect(told).toEqual([
    'WARN the model failed: rate_limit: slow down; retrying, 2.0 s',
    'WARN the step is retried: WorkerLost',
    'ERROR failed: auth_error: 401 from https://models.example/v1',
    expect.stringMatching(/^WARN waits for input: approval \(refund\); ".*waits answer w1"$/),
  ]);
  expect(acts).toEqual([false, false, true, true]);
});

it('in JSON each line has its thread, and none is counted instead of printed', () => {
  const lines: string[] = [];
  const teller = createLogListener(
    createLogger({ level: 'info', format: 'json' }, (line) => void lines.push(line)),
  );
  const data = { name: 'weather', callId: 'c1', status: 'success' } as const;
  for (let seq = 1; seq <= 50; seq += 1)
    teller.told(thread, { seq, at: 0, type: 'tool.result', step: 2, data });
  teller.told(thread, { seq: 51, at: 0, type: 'value.changed', data: { key: 'k' } });
  expect(lines).toHaveLength(50);
  expect(JSON.parse(lines[49] ?? '')).toMatchObject({
    ...{ level: 'INFO', threadId: 't1', agent: 'helper', step: 2, tool: 'weather', status: 'success' },
  });
});

it('as text a line does not repeat its own sentence', () => {
  const lines: string[] = [];
  const teller = createLogListener(
    createLogger({ level: 'info', format: 'text' }, (line) => void lines.push(line)),
  );
  const data = { name: 'weather', callId: 'c1', status: 'success' } as const;
  teller.told(thread, { seq: 1, at: 0, type: 'tool.result', step: 2, data });
  expect(lines.map((line) => line.slice('2026-01-01T00:00:00.000Z '.length))).toEqual([
    'INFO  tool weather: success agent=helper threadId=t1 step=2',
  ]);
});
