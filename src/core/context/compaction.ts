/**
 * Decides when a summary replaces the older part of a history, and where it is cut. Pure: the same rows give the same
 * plan.
 * - Only messages after the newest summary are counted, as the request would show them. If the newest one is a
 *   user's, it is not counted: the request answers it, so it is always kept.
 * - A cut never separates a call from its results, and the kept part never begins with a result. If it would, the cut
 *   moves back, so that more is kept.
 * - A cut is a time: no kept message is older than a covered one, in whatever order results were stored. So the store
 *   finds the kept messages without reading the covered ones.
 * - A history that does not fit the models' window is always compacted. So no message is dropped unread, and there is
 *   room in a window of any size: half of it is for the kept part.
 * - Long messages alone do not cause a summary at each step: after a summary, the next one covers at least GROWTH
 *   messages.
 * - If the budget's policy requests compaction, the thresholds are ignored; the definition still says how many
 *   messages are kept.
 */
import { type CompactionGuard, type CompactionReason, GROWTH } from '../guard/compaction.ts';
import type { ContextMessage } from './context.ts';
import { estimateMessage, type Scale } from './context-estimate.ts';

/** What a request would show without a further summary. */
export interface CompactedView {
  /** Messages with each result after its call, as the acting side sees them, oldest first. */
  readonly shown: readonly ContextMessage[];
  /** Tokens that the models' window has for messages. */
  readonly room: number;
  /** How they are estimated. */
  readonly scale?: Scale;
  /** True if there are older messages that were not even read. */
  readonly trimmed: boolean;
  /** True if a summary precedes them. */
  readonly again: boolean;
  /** True if the budget's policy requests compaction. */
  readonly wanted?: boolean;
}

/** What is too much, with its size and its limit: in messages, characters, or tokens of the window. */
interface Excess {
  readonly reason: CompactionReason;
  readonly size?: number;
  readonly limit?: number;
}

export interface CompactionPlan extends Excess {
  /** Messages that the summary is made of, oldest first. */
  readonly covered: readonly ContextMessage[];
  /** The newest message that it covers, and its time. */
  readonly messageId: string;
  readonly until: number;
}

/** Undefined if no compaction is due, or nothing can be cut off. */
export function planCompaction(view: CompactedView, guard: CompactionGuard): CompactionPlan | undefined {
  const { shown } = view;
  // A user's newest message is not counted.
  const asks = shown.at(-1)?.role === 'user';
  const rows = asks ? shown.slice(0, -1) : shown;
  const excess = findExcess(rows, view, guard) ?? (view.wanted ? ({ reason: 'budget' } as const) : undefined);
  if (!excess) return undefined;
  const kept = excess.reason === 'window' ? fittingTail(view, rows, guard) : guard.retainRecentMessages;
  const at = findCut(shown, rows.length - kept);
  if (at === undefined) return undefined;
  const covered = shown.slice(0, at);
  const last = covered.reduce((one, other) => (other.created_at > one.created_at ? other : one));
  return { ...excess, covered, messageId: last.id, until: last.created_at };
}

function findExcess(
  rows: readonly ContextMessage[],
  { shown, room, scale, trimmed, again }: CompactedView,
  { thresholdMessages, thresholdChars, retainRecentMessages, byWindow }: CompactionGuard,
): Excess | undefined {
  const tokens = sumOf(shown, tokensBy(scale));
  const most = byWindow ? fullAt(room) : room;
  if (trimmed || tokens > most)
    return { reason: 'window', size: Math.round(tokens), limit: Math.round(most) };
  if (rows.length > thresholdMessages)
    return { reason: 'messages', size: rows.length, limit: thresholdMessages };
  const least = again ? GROWTH : 1;
  if (rows.length < retainRecentMessages + least) return undefined;
  const chars = sumOf(rows, charsOf);
  return chars > thresholdChars ? { reason: 'chars', size: chars, limit: thresholdChars } : undefined;
}

/** Tokens above which the window counts as full: a quarter of a small one stays free, 33,000 tokens of a large one. */
function fullAt(room: number): number {
  return room - Math.min(33_000, room / 4);
}

const tokensBy = (scale: Scale | undefined) => (message: ContextMessage) =>
  estimateMessage(message, { past: false, recent: true }, scale);
const charsOf = ({ content, tool_calls: calls }: ContextMessage) =>
  (content?.length ?? 0) + (calls?.length ?? 0);

function sumOf(messages: readonly ContextMessage[], weigh: (message: ContextMessage) => number): number {
  return messages.reduce((sum, each) => sum + weigh(each), 0);
}

/** How many of the newest fit into half of the window, with the user's newest message; at least one is kept. */
function fittingTail(
  { shown, room, scale }: CompactedView,
  rows: readonly ContextMessage[],
  { retainRecentMessages }: CompactionGuard,
): number {
  const tokensOf = tokensBy(scale);
  let left = room / 2 - sumOf(shown.slice(rows.length), tokensOf);
  let kept = 0;
  for (const each of rows.toReversed().slice(0, retainRecentMessages)) {
    left -= tokensOf(each);
    if (left < 0) break;
    kept += 1;
  }
  return shown.length > rows.length ? kept : Math.max(1, kept);
}

/** Index at which the kept part begins: `latest` or lower. Undefined if nothing would be covered. */
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
