/**
 * A unit that takes its worker down is tried again alone and then given up; units that ran beside it are not. All
 * processes are real. `npm run test:soak -- author-crash` has every kind of unit.
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type CrashSite, startCrashSite } from '../support/crash-project.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/long-form.ts';
import { commandLine, isAlive, processTree } from '../support/process-tree.ts';

jest.setTimeout(600_000);
const REST = { timeoutMs: 400_000 };
const INNOCENTS = isLong ? 5 : 2;
const inLongForm = isLong ? it : () => undefined;
/** More than three if a busy machine makes a worker seem lost and two attempts crash at the same time. */
const GIVEN_UP = /WorkerCrashed: .* (three|\d+) times/;

/**
 * UNWATCHED: no watchdog, and a small heap for a tool that fills it. WATCHED: the watchdog ends endless loops, and
 * counts them.
 */
const UNWATCHED = { EVERTHREAD_WATCHDOG_MS: '0', NODE_OPTIONS: '--max-old-space-size=320' };
const WATCHED = { EVERTHREAD_WATCHDOG_MS: '2000' };

let site: CrashSite;
let crashesBefore = 0;

/** One worker for all tests of a block: after each crash it is restarted with its earlier state. */
function onWorker(env: Readonly<Record<string, string>>): void {
  beforeAll(async () => {
    site = await startCrashSite(env);
  });
  beforeEach(() => {
    crashesBefore = countCrashes();
  });
  afterAll(() => site.close());
}

const countCrashes = () => site.worker.stderr().split('has ended (').length - 1;
/** Crashes of the worker itself since the current test began. */
const crashes = () => countCrashes() - crashesBefore;
const falls = (thread: string) =>
  site.ledger().filter((line) => line.startsWith(thread) && line.endsWith('falls')).length;

async function atRest(thread: string): Promise<string[]> {
  await site.client.waitForIdle(thread, REST);
  return site.transcript(thread);
}

/**
 * True if such a line is in the ledger: units that wait for "exhaust", and innocent ones, write one when they begin.
 */
const hasBegun = (what: string) => site.ledger().some((line) => line.endsWith(what));

const effectFailure = async (thread: string) =>
  (await site.store.events.read(thread, 0)).find((event) => event.type === 'effect.failed');

/** Strikes in the store against this thread's units. */
function strikes(thread: string): unknown[] {
  const db = new DatabaseSync(join(site.project.folder, 'data', 'store.db'), { readOnly: true });
  try {
    return db.prepare('select thread_id, name, deaths from author_strikes where thread_id = ?').all(thread);
  } finally {
    db.close();
  }
}

describe('on one worker', () => {
  onWorker(UNWATCHED);

  describe('after one of several concurrent units exhausts the heap and crashes the worker', () => {
    let exhausting: string;
    let aborting: string;
    let thinking: string;
    let advised: string;
    let planning: string;
    let deciding: string;
    let innocents: string[];
    let fallen: number;
    /** Set only in the long form; the short form has other units of the same kind. */
    let counselled: string | undefined;
    let acting: string | undefined;

    beforeAll(async () => {
      const before = countCrashes();
      const task = async (phase: string) =>
        (await site.client.tasks.start({ task: 'fall', inputs: { phase } })).id;
      innocents = await Promise.all(Array.from({ length: INNOCENTS }, () => site.begin('use innocent')));
      aborting = await site.begin('use abort');
      thinking = await site.begin('think badly');
      advised = await site.begin('consult');
      planning = await site.begin('use plan');
      deciding = await task('decide');
      if (isLong) {
        counselled = await site.begin('consult counsel');
        acting = await task('act');
      }
      const begun = [
        ...innocents.map((thread) => `${thread} innocent begins`),
        ...['abort falls', 'thinker falls', 'adviser falls', 'effect falls', 'decide falls'],
        ...(isLong ? ['hook falls', 'act falls'] : []),
      ];
      await eventually('all others have begun', () => begun.every(hasBegun), 60_000);
      exhausting = await site.begin('use exhaust');
      await eventually('the worker falls', () => countCrashes() > before, 180_000);
      site.release();
      const threads = [exhausting, aborting, thinking, advised, planning, ...innocents];
      if (counselled) threads.push(counselled);
      await Promise.all(threads.map((thread) => site.client.waitForIdle(thread, REST)));
      await eventually('the effect is given up', () => effectFailure(planning), 300_000);
      for (const id of [deciding, acting]) if (id) await site.client.tasks.wait(id, REST);
      fallen = countCrashes() - before;
    });

    it('no unit crashes the main worker process again, because all of them then run in isolation', () => {
      expect(fallen).toBe(1);
    });

    it('units that did not cause the crash all succeed', async () => {
      for (const thread of innocents) {
        expect(await site.transcript(thread)).toEqual([
          'user: use innocent',
          'assistant:  -> innocent',
          'tool innocent success: all is well',
          'assistant: I have read: all is well',
        ]);
      }
      expect(innocents.flatMap(strikes)).toEqual([]);
    });

    it('a tool that crashed three times gets an error result, and its thread continues', async () => {
      const transcript = await site.transcript(aborting);
      expect(transcript[2]).toMatch(
        new RegExp(
          `^tool abort error: .*WorkerCrashed: The tool "abort" of thread ${aborting} has crashed its worker process (three|\\d+) times`,
        ),
      );
      expect(transcript[3]).toContain('I have read');
      // Once beside the others, three times alone.
      expect(falls(aborting)).toBeGreaterThanOrEqual(4);
      expect(strikes(aborting)).toEqual([expect.objectContaining({ thread_id: aborting, name: 'abort' })]);
      await site.say(aborting, 'hello');
      expect((await site.transcript(aborting)).at(-1)).toBe('assistant: You said: hello');
    });

    it('the tool that exhausted the heap in a quick call gets an error result, and its thread continues', async () => {
      expect((await site.transcript(exhausting))[2]).toMatch(GIVEN_UP);
      await site.say(exhausting, 'hello');
      expect((await site.transcript(exhausting)).at(-1)).toBe('assistant: You said: hello');
    });

    it('a model step fails its thread with a code, and the next message is answered', async () => {
      expect(await site.store.threads.get(thinking)).toMatchObject({
        status: 'failed',
        lastError: {
          code: 'WorkerCrashed',
          message: expect.stringMatching(/has crashed its worker process (three|\d+) times/),
        },
      });
      const other = await site.start('hello');
      expect((await site.transcript(other)).at(-1)).toBe('assistant: You said: hello');
    });

    it('a sub-prompt is an error that the calling model reads', async () => {
      expect((await site.transcript(advised))[2]).toMatch(/^tool adviser error: .*(three|\d+) times/);
    });

    it('an effect fails with WorkerCrashed', async () => {
      expect((await effectFailure(planning))?.data).toMatchObject({ error: { code: 'WorkerCrashed' } });
      expect(falls(planning)).toBeGreaterThanOrEqual(4);
    });

    it('a task phase fails its task with a code after three crashes', async () => {
      expect(await site.client.tasks.wait(deciding, REST)).toMatchObject({
        status: 'failed',
        verdict: {
          stoppedBy: 'runtime-error',
          code: 'WorkerCrashed',
          reason: expect.stringMatching(/^decide failed: .*"think, step 0".* (three|\d+) times/),
        },
      });
      expect(falls(deciding)).toBeGreaterThanOrEqual(4);
    });

    inLongForm(
      'a hook behind the result of a sub-prompt is given up with it, and the thread goes on',
      async () => {
        const thread = counselled as string;
        expect((await site.transcript(thread))[2]).toMatch(
          /^tool counsel error: .*WorkerCrashed: .*(three|\d+) times/,
        );
        // Once beside the others, three times alone.
        expect(falls(thread)).toBeGreaterThanOrEqual(4);
        await site.say(thread, 'hello');
        expect((await site.transcript(thread)).at(-1)).toBe('assistant: You said: hello');
      },
    );

    inLongForm("an idempotent task's act has that as its outcome, and the task goes on", async () => {
      expect(await site.client.tasks.wait(acting as string, REST)).toMatchObject({
        status: 'completed',
        verdict: {
          outcome: {
            ok: false,
            code: 'WorkerCrashed',
            error: expect.stringMatching(/"act, step 0".* times/),
          },
        },
      });
      expect(falls(acting as string)).toBeGreaterThanOrEqual(4);
    });
  });

  describe('a synchronous endless loop that no watchdog ends', () => {
    it('does not keep a worker process alive after its supervisor was killed', async () => {
      const thread = await site.begin('use spin');
      await eventually('it spins', () => falls(thread) === 1);
      const tree = processTree(site.worker.process.pid as number);
      expect(tree.some((pid) => commandLine(pid).includes('worker-program'))).toBe(true);
      site.worker.process.kill('SIGKILL');
      await eventually('nobody is left', () => !tree.some(isAlive));
    });
  });
});

describe('a synchronous endless loop', () => {
  onWorker(WATCHED);

  it('is reported with its thread, its tool and its source location, and the worker continues', async () => {
    const bystander = await site.begin('use innocent');
    await eventually('the innocent tool runs', () =>
      site.ledger().some((line) => line.startsWith(bystander)),
    );
    const thread = await site.begin('use spin');
    await eventually('the worker is ended', () => crashes() > 0, 180_000);
    site.release();
    const [line = ''] = site.worker.stderr().match(/^.*crashed its worker process:.*$/m) ?? [];
    expect(line).toContain('tool "spin" crashed its worker process: its event loop was blocked for');
    expect(line).toContain(`threadId=${thread}`);
    expect(line).toContain('agents/tools/spin.ts');
    expect((await atRest(thread))[2]).toMatch(GIVEN_UP);
    // The first crash counts too, since the culprit is known.
    expect(falls(thread)).toBeGreaterThanOrEqual(3);
    expect((await atRest(bystander))[2]).toBe('tool innocent success: all is well');
    expect(strikes(thread)).toEqual([expect.objectContaining({ thread_id: thread })]);
    expect(strikes(bystander)).toEqual([]);
  });

  it('in a run-once tool leaves an unknown outcome, and the tool is not retried', async () => {
    const thread = await site.begin('use spin_once');
    expect((await atRest(thread))[2]).toMatch(/outcome of this call is unknown/);
    expect(falls(thread)).toBe(1);
  });

  it('is not confused with a process paused by SIGSTOP', async () => {
    const pid = processTree(site.worker.process.pid as number).find((each) =>
      commandLine(each).includes('worker-program'),
    ) as number;
    process.kill(pid, 'SIGSTOP');
    const until = performance.now() + 4000;
    await eventually('it was stopped for longer than the watchdog allows', () => performance.now() > until);
    process.kill(pid, 'SIGCONT');
    const thread = await site.start('hello');
    expect((await site.transcript(thread)).at(-1)).toBe('assistant: You said: hello');
    expect(isAlive(pid)).toBe(true);
  });
});
