/** `everthread threads list` and `tree`: read the store, and need no server. */
import type { ThreadStatus } from '../../core/thread/step.ts';
import { idOption, option, parseCount, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';
import { ageOf, tone } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';
import { statusTone } from '../output/thread-text.ts';
import { treeLines } from '../output/tree-text.ts';

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
    limit: option('<n>', 'at most n threads', parseCount, 50),
  },
  async read(store, { limit, before, ...filters }) {
    const { status, agent, user: userId, organization: organizationId, tag, parent: parentId } = filters;
    const asked = { status, agent, userId, organizationId, tag, parentId };
    const place = before === undefined ? undefined : await readThread(store, before);
    const found = await store.threads.list({ ...asked, before: place, limit });
    const words = await store.threads.firstWords(found.map(({ id }) => id));
    const threads = found.map((each) => ({ ...each, firstWords: words[each.id] ?? null }));
    const filtered = place || Object.values(asked).some((value) => value !== undefined);
    return listing('threads', threads, {
      columns: {
        THREAD: 'id',
        AGENT: ['agent', 30],
        STATUS: 'status',
        STEPS: 'lastStep',
        AGE: ({ createdAt }) => ageOf(createdAt),
        CHANGED: ({ updatedAt }) => ageOf(updatedAt),
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
