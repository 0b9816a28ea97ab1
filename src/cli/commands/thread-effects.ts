/** `everthread threads effects`: the pending effects of a thread, and cancelling them. Needs the store, and no server. */
import type { Command } from 'commander';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { addCommon, type Cli, type CommonOptions, THREAD_ARGUMENT, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';

export function addThreadEffects(threads: Command, cli: Cli): void {
  const list = threads
    .command('effects')
    .summary('list the effects that a thread has scheduled, or cancel one')
    .description(
      'Lists pending effects (state.scheduleEffect), the next due first. With --json: { effects }, times in ' +
        'microseconds since 1970.',
    )
    .argument(...THREAD_ARGUMENT);
  addCommon(list).action(withExitCode(cli, listEffects));
  const cancel = list
    .command('cancel')
    .summary('cancel a pending effect')
    .description('Cancels a pending effect; it never fires.')
    .argument(...THREAD_ARGUMENT)
    .argument('<effect>', 'id of the effect');
  addCommon(cancel).action(withExitCode(cli, cancelEffect));
}

async function listEffects(threadId: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    const effects = await store.effects.list(threadId);
    if (json) return printJson({ effects });
    if (effects.length === 0) return note('No pending effects.');
    const rows = effects.map((effect) => toRow(effect, Date.now()));
    const [heading = '', ...lines] = toTable([['ID', 'NAME', 'DUE', 'AT', 'ARGUMENTS'], ...rows]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(line);
  });
  return undefined;
}

function toRow({ id, name, args, scheduledAt }: ScheduledEffect, now: number): string[] {
  const at = scheduledAt / 1000;
  return [
    shorten(id, 64),
    shorten(name, 64),
    dueText(at - now),
    new Date(at).toISOString(),
    shorten(JSON.stringify(args), 120),
  ];
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats milliseconds in their two largest units: `in 2 h 5 min`, `now`, `3 min late`. */
export function dueText(milliseconds: number): string {
  let seconds = Math.floor(Math.abs(milliseconds) / 1000);
  if (seconds === 0) return 'now';
  const largest = UNITS.findIndex(([, size]) => seconds >= size);
  const words: string[] = [];
  for (const [unit, size] of UNITS.slice(largest, largest + 2)) {
    const count = Math.floor(seconds / size);
    if (count > 0) words.push(`${count} ${unit}`);
    seconds -= count * size;
  }
  return milliseconds > 0 ? `in ${words.join(' ')}` : `${words.join(' ')} late`;
}

async function cancelEffect(
  threadId: string,
  effectId: string,
  _options: CommonOptions,
  command: Command,
): Promise<undefined> {
  // Both commands have these options, and commander assigns them to the outer one.
  const { project, json } = command.optsWithGlobals<CommonOptions>();
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    if (!(await store.effects.remove(threadId, effectId))) {
      throw new RuntimeError(
        'EffectNotFound',
        `Thread "${threadId}" has no pending effect ${JSON.stringify(effectId)}: it has fired, was cancelled, or never existed.`,
      );
    }
    if (json) printJson({ threadId, effectId, cancelled: true });
    else note(`Cancelled effect ${effectId} of thread ${threadId}.`);
  });
  return undefined;
}
