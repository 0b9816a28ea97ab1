/** `everthread threads list` and `tree`: read the store, and need no server. */

import { THREAD_SORTS } from '../../core/author/read-options.ts';
import type { ThreadStatus } from '../../core/thread/step.ts';
import { shorten } from '../../core/value/shown-text.ts';
import type { FamilyMember } from '../../store/family/family-record.ts';
import { idOption, option, parseCount, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';
import { ageOf, tableLines, tone } from '../output/output.ts';
import { costText, statusTone, waitingText } from '../output/thread-text.ts';

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];

export const threadList = storeCommand({
  description:
    'Lists the threads of the store, last changed first, with their age and how their conversations begin. ' +
    'With --json: { threads }.',
  options: {
    status: option('<status>', 'only threads with this status', STATUSES),
    agent: option('<name>', 'only threads of this agent'),
    user: option('<id>', 'only threads of this user'),
    organization: option('<id>', 'only threads of this organisation'),
    tag: option('<tag>', 'only threads with this tag, last created first'),
    parent: idOption('thread', 'only subagents of this thread'),
    before: idOption('thread', 'only those after this thread: pass the last one shown for the next page'),
    sort: option(
      '<order>',
      'the order; by cost, tokens or waiting only threads that have some',
      THREAD_SORTS,
    ),
    limit: option('<n>', 'at most n threads', parseCount, 50),
  },
  async read(store, { limit, before, sort, ...filters }) {
    const { status, agent, user: userId, organization: organizationId, tag, parent: parentId } = filters;
    const asked = { status, agent, userId, organizationId, tag, parentId };
    const place = before === undefined ? undefined : await readThread(store, before);
    const threads = await store.threads.conceal(
      await store.threads.list({ ...asked, sort, before: place, limit }),
    );
    const filtered = place || Object.values(asked).some((value) => value !== undefined);
    return listing('threads', threads, {
      columns: {
        THREAD: 'id',
        AGENT: ['agent', 30],
        STATUS: 'status',
        STEPS: 'lastStep',
        AGE: ({ createdAt }) => ageOf(createdAt),
        CHANGED: ({ updatedAt }) => ageOf(updatedAt),
        ...(threads.some(({ costUsd }) => costUsd > 0) && { COST: ({ costUsd }) => costText(costUsd) }),
        ...(threads.some(({ waitingFor }) => waitingFor !== null) && {
          'WAITS FOR': ({ waitingFor }) => (waitingFor ? shorten(waitingText(waitingFor), 40) : '-'),
        }),
        ...(threads.some((each) => each.parentId !== null) && { PARENT: (each) => each.parentId ?? '-' }),
        // A subagent's name comes before the first words of its thread.
        'BEGINS WITH': ({ name, firstWords }) => shorten([name, firstWords].filter(Boolean).join(': '), 48),
      },
      none: `No ${filtered ? 'matching threads' : 'threads yet'}.`,
      limit,
      more: (last) => `--limit shows more, --before ${last?.id} those after.`,
      paint: (line, each) =>
        line.replace(` ${each.status} `, ` ${tone(statusTone(each.status), each.status)} `),
    });
  },
});

export const threadTree = storeCommand({
  description:
    'Shows a thread with all its descendants, each below its parent. ' +
    'With --json: { threads: [{ depth, thread, child }] }, each after its parent.',
  arguments: { thread: THREAD },
  async read(store, { thread }) {
    await readThread(store, thread);
    const threads = await store.family.read(thread);
    return { json: { threads }, text: treeLines(threads).join('\n') };
  },
});

/** A family of threads for display: a heading, and a line for each thread, below its parent. */
const HEADINGS = ['AGENT', 'STATUS', 'STEPS', 'STOPPED BY', 'REFERENCE'];
const NAME_LENGTH = 40;

/** Returns a line for each thread, after that of its parent, in the store's order. */
export function treeLines(family: readonly FamilyMember[]): string[] {
  const branches = drawBranches(family.map(({ depth }) => depth));
  const rows = family.map((member, index) => toRow(member, branches[index] ?? ''));
  const [heading = '', ...lines] = tableLines([HEADINGS, ...rows]);
  const at = heading.indexOf('STATUS');
  return [tone('dim', heading), ...family.map((member, index) => colour(lines[index] ?? '', at, member))];
}

function toRow({ thread, child }: FamilyMember, branch: string): string[] {
  const name = child?.name ?? thread.name;
  const agent = shorten(thread.agent, NAME_LENGTH);
  return [
    branch + (name ? `${agent} "${shorten(name, NAME_LENGTH)}"` : agent),
    statusOf(thread.status, child?.status),
    String(thread.lastStep),
    shorten(thread.stopReason ?? '-', NAME_LENGTH),
    thread.id,
  ];
}

const THREAD_STATUSES = ['running', 'idle', 'failed', 'stopped', 'terminated'];

/** Returns the status, followed by the status text that a child has set, if any. */
function statusOf(status: string, shownStatus = status): string {
  return THREAD_STATUSES.includes(shownStatus) ? status : `${status} (${shorten(shownStatus, NAME_LENGTH)})`;
}

/** Colours the status by its column: a name or a reason may equal a status. */
function colour(line: string, at: number, { thread: { status } }: FamilyMember): string {
  return line.slice(0, at) + tone(statusTone(status), status) + line.slice(at + status.length);
}

/** Returns for each node, parents first, the prefix of its name: `│  ├─ `, `   └─ `; empty for the root. */
export function drawBranches(depths: readonly number[]): string[] {
  const drawn: string[] = [];
  /** By depth: true if another node follows below, on the same branch. */
  const goesOn: boolean[] = [];
  for (const depth of [...depths].reverse()) {
    const above = Array.from({ length: Math.max(0, depth - 1) }, (_, level) =>
      goesOn[level + 1] ? '│  ' : '   ',
    );
    drawn.push(depth === 0 ? '' : above.join('') + (goesOn[depth] ? '├─ ' : '└─ '));
    goesOn.length = depth;
    goesOn[depth] = true;
  }
  return drawn.reverse();
}
