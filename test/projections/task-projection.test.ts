/** The log as tasks of A2A: a pure function of its rows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { A2aFrame, A2aTask } from '../../src/projections/a2a/a2a-shape.ts';
import { projectTasks } from '../../src/projections/a2a/task-projection.ts';
import { beginTasks } from '../../src/projections/a2a/task-state.ts';
import { answeredBy } from '../../src/projections/a2a/task-status.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import { rowsOf } from './row.ts';

type Row = readonly [type: string, data: object, more?: Partial<LogRow> & { step?: number }];

function readTasks(rows: readonly LogRow[]): { frames: A2aFrame[]; task: A2aTask | null } {
  let reading = beginTasks('thread-1');
  const frames = rows.flatMap((row) => {
    const [next, told] = projectTasks(reading, row);
    reading = next;
    return told;
  });
  return { frames, task: reading.open?.task ?? reading.ended };
}

const began: Row = ['execution.started', { executionId: 'task-1' }];
const ended = (more = {}): Row => [
  'execution.ended',
  { executionId: 'task-1', reason: 'stop_on_response', ...more },
];
const step = (n: number): Row => ['step.started', {}, { step: n }];
const chunk = (n: number, delta: string, more = {}): Row => [
  'model.chunk',
  { delta, call: 1, ...more },
  { step: n },
];
const message = (id: string, role: string, content: string | null): Row => [
  'message.created',
  { messageId: id, role },
  { message: { id, content, silent: false, metadata: {}, attachments: null } as never },
];
const answered = (n: number, id: string, content: string | null): readonly Row[] => [
  message(id, 'assistant', content),
  ['step.committed', { messageId: id, model: 'm', finishReason: 'stop' }, { step: n }],
];
const wait = { waitId: 'wait-1', kind: 'approval', name: 'pay', callId: 'c1' };
const stands = (status: string): Row => ['thread.status', { status }];

/** Every kind of row that a task reports. */
const WHOLE: readonly Row[] = [
  message('u-1', 'user', 'pay, then look'),
  began,
  stands('running'),
  step(1),
  chunk(1, 'Wro'),
  ['attempt.discarded', { attempt: 1, call: 1, reason: 'ModelUnavailable' }, { step: 1 }],
  chunk(1, 'Pay'),
  chunk(1, 'ing'),
  chunk(1, 'of a sub-prompt', { depth: 1 }),
  ...answered(1, 'a-1', 'Paying'),
  ['wait.opened', { ...wait, summary: 'pays 5', expiresAt: null }],
  stands('waiting'),
  ['wait.answered', { ...wait, approved: true, by: answeredBy('ada', 'u-2') }],
  stands('running'),
  ['file.created', { path: '/docs/a.txt', mimeType: 'text/plain', size: 3 }],
  ['file.created', { path: '/attachments/b.png', mimeType: 'image/png', size: 3 }],
  step(2),
  message('u-3', 'user', 'hurry'),
  ...answered(2, 'a-2', 'Done'),
  ended(),
];

describe('a task in A2A’s format', () => {
  it('equals its golden file, and its state follows from its frames', () => {
    const path = join(import.meta.dirname, 'golden', 'a2a-task.json');
    const told = readTasks(rowsOf(...WHOLE));
    if (process.env.EVERTHREAD_WRITE_GOLDEN) writeFileSync(path, `${JSON.stringify(told, null, 2)}\n`);
    expect(told).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it('has the committed text for a reader from any cursor, even if chunks are pruned', () => {
    const texts = (...rows: readonly Row[]) =>
      readTasks(rowsOf(began, step(1), ...rows, ...answered(1, 'a', 'Hello you'))).frames.flatMap((frame) =>
        'artifactUpdate' in frame
          ? [[frame.artifactUpdate.append, frame.artifactUpdate.artifact.parts[0]?.text]]
          : [],
      );
    expect(texts(chunk(1, 'Hello'), chunk(1, ' you'))).toEqual([
      [false, 'Hello'],
      [true, ' you'],
      [false, 'Hello you'],
    ]);
    expect(texts(chunk(1, ' you'))).toEqual([
      [false, ' you'],
      [false, 'Hello you'],
    ]);
    expect(texts()).toEqual([[false, 'Hello you']]);
  });

  it('ends as its execution does, with the reason', () => {
    const end = (more: object) => readTasks(rowsOf(began, ended(more))).task?.status;
    expect(end({ status: 'failed', error: { code: 'ModelFailed', message: 'No answer.' } })).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'No answer.' }] },
    });
    expect(end({ status: 'stopped', reason: 'canceled', cancelReason: 'enough' })).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { parts: [{ text: 'enough' }] },
    });
  });

  it('a wait answered before the thread is idle does not make it wait; with two open it waits for each', () => {
    const states = (...rows: readonly Row[]) =>
      readTasks(rowsOf(began, ...rows)).frames.flatMap((frame) =>
        'statusUpdate' in frame
          ? [
              [
                frame.statusUpdate.status.state.slice(11),
                frame.statusUpdate.status.message?.parts.length ?? 0,
              ],
            ]
          : [],
      );
    const open = (waitId: string): Row => ['wait.opened', { ...wait, waitId, summary: 's', expiresAt: null }];
    const close = (waitId: string): Row => ['wait.closed', { ...wait, waitId, reason: 'expired' }];
    expect(states(open('w'), close('w'), stands('waiting'), stands('running'))).toEqual([['WORKING', 0]]);
    expect(states(open('v'), stands('waiting'), open('w'), close('v'), close('w'))).toEqual([
      ['WORKING', 0],
      ['INPUT_REQUIRED', 2],
      ['INPUT_REQUIRED', 4],
      ['INPUT_REQUIRED', 2],
      ['WORKING', 0],
    ]);
  });

  it('starts with the messages since the last step, even if read from within another one', () => {
    const before = [message('u-0', 'user', 'older'), step(1), ended(), message('u-1', 'user', 'new'), began];
    const { task } = readTasks(rowsOf(...before));
    expect(task?.history.map(({ messageId }) => messageId)).toEqual(['u-1']);
  });
});
