/**
 * When the older part of a history gives place to a summary, and where it is cut. Pure: the same rows give the same plan.
 * C1. Counted are the messages behind the newest summary, as the request would show them, without the newest one where it is a user's:
 *     that one asks, and is always kept.
 * C2. A cut never separates a call from its results, and what is kept never begins with a result. Where it would, it moves back, so more
 *     is kept.
 * C3. A cut is a time: nothing that is kept is older than what is covered, in whatever order results were stored. So the store finds what
 *     is kept without looking at what is covered.
 * C4. What does not fit the models' window is always a reason. So nothing is left out unread, and a window of any size has room:
 *     half of it is for what is kept.
 * C5. Long messages alone do not lead to a summary for each step: behind a summary, at least so many messages are covered by the next.
 * C6. Where the policy of the budget wants it, what the definition would keep is kept, whatever the thresholds say.
 */
import { type CompactionGuard, type CompactionReason, GROWTH } from '../guard/compaction.ts';
import type { ContextMessage } from './context.ts';
import { estimateMessage } from './context-estimate.ts';

/** What a request would show without another summary. */
export interface CompactedView {
  /** Paired, as the acting side sees them, oldest first. */
  readonly shown: readonly ContextMessage[];
  /** Tokens that the models' window has for messages. */
  readonly room: number;
  /** There is more, which was not even read. */
  readonly trimmed: boolean;
  /** A summary stands before them. */
  readonly again: boolean;
  /** The policy of the budget wants it (C6). */
  readonly wanted?: boolean;
}

export interface CompactionPlan {
  readonly reason: CompactionReason;
  /** What the summary is made of, oldest first. */
  readonly covered: readonly ContextMessage[];
  /** The last message that it covers, and its time. */
  readonly messageId: string;
  readonly until: number;
}

/** Undefined where nothing is due, or nothing can be cut off. */
export function planCompaction(view: CompactedView, guard: CompactionGuard): CompactionPlan | undefined {
  const { shown } = view;
  // C1: the newest word of the user is not counted.
  const asks = shown.at(-1)?.role === 'user';
  const rows = asks ? shown.slice(0, -1) : shown;
  // C6: whatever the thresholds say.
  const reason = findReason(rows, view, guard) ?? (view.wanted ? 'budget' : undefined);
  if (!reason) return undefined;
  const kept = reason === 'window' ? fittingTail(view, rows, guard) : guard.retainRecentMessages;
  const at = findCut(shown, rows.length - kept);
  if (at === undefined) return undefined;
  const covered = shown.slice(0, at);
  const last = covered.reduce((one, other) => (other.created_at > one.created_at ? other : one));
  return { reason, covered, messageId: last.id, until: last.created_at };
}

function findReason(
  rows: readonly ContextMessage[],
  { shown, room, trimmed, again }: CompactedView,
  { thresholdMessages, thresholdChars, retainRecentMessages, byWindow }: CompactionGuard,
): CompactionReason | undefined {
  // C4: whatever the definition says.
  if (trimmed || sumOf(shown, tokensOf) > (byWindow ? fullAt(room) : room)) return 'window';
  if (rows.length > thresholdMessages) return 'messages';
  const least = again ? GROWTH : 1;
  if (rows.length < retainRecentMessages + least) return undefined;
  return sumOf(rows, charsOf) > thresholdChars ? 'chars' : undefined;
}

/** A quarter of a small window stays free, and 33,000 tokens of a large one. */
function fullAt(room: number): number {
  return room - Math.min(33_000, room / 4);
}

const tokensOf = (message: ContextMessage) => estimateMessage(message, { past: false, recent: true });
const charsOf = ({ content, tool_calls: calls }: ContextMessage) =>
  (content?.length ?? 0) + (calls?.length ?? 0);

function sumOf(messages: readonly ContextMessage[], weigh: (message: ContextMessage) => number): number {
  return messages.reduce((sum, each) => sum + weigh(each), 0);
}

/** C4: how many of the newest fit into half of the window, the user's word included; at least one message stays. */
function fittingTail(
  { shown, room }: CompactedView,
  rows: readonly ContextMessage[],
  { retainRecentMessages }: CompactionGuard,
): number {
  let left = room / 2 - sumOf(shown.slice(rows.length), tokensOf);
  let kept = 0;
  for (const each of rows.toReversed().slice(0, retainRecentMessages)) {
    left -= tokensOf(each);
    if (left < 0) break;
    kept += 1;
  }
  return shown.length > rows.length ? kept : Math.max(1, kept);
}

/** Where what is kept begins: at `latest` or before (C2, C3). Undefined where nothing would be covered. */
function findCut(shown: readonly ContextMessage[], latest: number): number | undefined {
  const oldestFrom = shown.map(({ created_at: at }) => at);
  for (let index = shown.length - 2; index >= 0; index -= 1)
    oldestFrom[index] = Math.min(oldestFrom[index] as number, oldestFrom[index + 1] as number);
  const newestUntil = shown.map(({ created_at: at }) => at);
  for (let index = 1; index < shown.length; index += 1)
    newestUntil[index] = Math.max(newestUntil[index] as number, newestUntil[index - 1] as number);
  for (let at = latest; at > 0; at -= 1) {
    const inOrder = (newestUntil[at - 1] as number) < (oldestFrom[at] ?? Number.POSITIVE_INFINITY);
    if (inOrder && shown[at]?.role !== 'tool') return at;
  }
  return undefined;
}
