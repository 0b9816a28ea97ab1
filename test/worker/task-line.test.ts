/** The queue between a native worker and the SDK: tasks pass in order, some are held back, others are inserted. */
import { expect, it } from '@jest/globals';
import { TaskBuffer } from '../../src/worker/task-buffer.ts';
import { keptMiB } from '../support/kept-memory.ts';

/** A native worker whose polls are answered by the test. */
function openPolls() {
  const polls: PromiseWithResolvers<Buffer>[] = [];
  const poll = () => {
    const next = Promise.withResolvers<Buffer>();
    polls.push(next);
    return next.promise;
  };
  return { polls, poll };
}

const task = (name: string) => Buffer.from(name);

it('an inserted task arrives at once, and the pending poll continues with the next', async () => {
  const { polls, poll } = openPolls();
  const line = new TaskBuffer(poll, () => true);
  const first = line.next();
  line.put(task('between'));
  expect(String(await first)).toBe('between');
  const second = line.next();
  polls[0]?.resolve(task('polled'));
  expect(String(await second)).toBe('polled');
  expect(polls).toHaveLength(1);
});

it('tasks wait in order until they are polled', async () => {
  const { polls, poll } = openPolls();
  const line = new TaskBuffer(poll, () => true);
  line.put(task('one'));
  line.put(task('two'));
  expect([String(await line.next()), String(await line.next())]).toEqual(['one', 'two']);
  expect(polls).toHaveLength(0);
});

it('a held task is passed to the caller, and the next task is polled', async () => {
  const { polls, poll } = openPolls();
  const held: string[] = [];
  const line = new TaskBuffer(poll, (each) => String(each) !== 'cancel' || held.push(String(each)) === 0);
  const next = line.next();
  polls[0]?.resolve(task('cancel'));
  while (polls.length < 2) await Promise.resolve();
  polls[1]?.resolve(task('work'));
  expect(String(await next)).toBe('work');
  expect(held).toEqual(['cancel']);
});

it('the end of the native worker is reported to each poll', async () => {
  const { polls, poll } = openPolls();
  const line = new TaskBuffer(poll, () => true);
  for (const index of [0, 1]) {
    const next = line.next();
    polls[index]?.reject(new Error('it has ended'));
    await expect(next).rejects.toThrow('it has ended');
  }
});

it('keeps no reference to tasks that have passed', async () => {
  const line = new TaskBuffer(
    async () => Buffer.alloc(100_000),
    () => true,
  );
  const before = keptMiB();
  for (let count = 0; count < 1000; count++) await line.next();
  // Together the tasks are 95 MiB.
  expect(keptMiB() - before).toBeLessThan(50);
});
