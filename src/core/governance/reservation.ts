/**
 * The maximum cost of a model request is reserved before it is sent; its actual cost is settled when it ends. Pure.
 * - Reservations never take a line above its limit. Reserved are the estimated input and as much output as the
 *   request may bring: the model's own bound, or the default one, or what remains. That bound is sent along, so only
 *   what a provider counts beyond it exceeds the limit.
 * R2. A request that only the reservations of others block is not denied: it waits for them.
 * - A request is settled once, with what it used. If its end was not seen, it is settled as it was reserved, and
 *   marked; an end that is seen later replaces that.
 * - A request whose cost cannot be counted is not sent: a model without prices is not called if cost is limited.
 */
import { BUDGETED_OUTPUT_TOKENS } from '../value/limit.ts';
import { clampAmount, costOfTokens, TOKENS_PER_PRICE, toPico } from '../value/money.ts';
import { evaluateSpending, inOrder, isNear } from './budget.ts';
import type { Amount, CountedLine } from './budget-amount.ts';
import type { BudgetLimit, LineLimit } from './budget-line.ts';

/** A request to a model, before it is sent. Prices are US dollars per 1,000,000 tokens. */
export interface CallEstimate {
  readonly inputTokens: number;
  /** The model's own bound; without one, BUDGETED_OUTPUT_TOKENS is the bound if output or its cost is limited. */
  readonly maxOutputTokens?: number;
  readonly inputPrice?: number;
  readonly outputPrice?: number;
}

export const AMOUNTS = [
  'maxInputTokens',
  'maxOutputTokens',
  'maxCost',
] as const satisfies readonly BudgetLimit[];

export type Amounts = Readonly<Record<(typeof AMOUNTS)[number], Amount>>;

export type ReservationPlan =
  /** `maxOutputTokens`: the output that the request may bring, if anything bounds it. */
  | { readonly kind: 'reserve'; readonly amounts: Amounts; readonly maxOutputTokens?: number }
  | { readonly kind: 'deny'; readonly line: CountedLine; readonly observed: Amount }
  /** R2: the reservations of other requests are in the way. */
  | { readonly kind: 'blocked' }
  /** Its cost cannot be counted. */
  | { readonly kind: 'unpriced'; readonly line: CountedLine };

/** The minimum amounts of a request: its input, and one token of output. */
export function toMinimumAmounts(estimate: CallEstimate): Amounts {
  return toAmounts(estimate, 1);
}

function toAmounts({ inputTokens, inputPrice = 0, outputPrice = 0 }: CallEstimate, output: number): Amounts {
  return {
    maxInputTokens: BigInt(Math.round(inputTokens)),
    maxOutputTokens: BigInt(output),
    maxCost: costOfTokens([
      [inputTokens, inputPrice],
      [output, outputPrice],
    ]),
  };
}

const isAmount = (limit: LineLimit): limit is keyof Amounts =>
  (AMOUNTS as readonly LineLimit[]).includes(limit);

/** True if any of the lines limits tokens or cost. */
export function hasAmounts(lines: readonly CountedLine[]): boolean {
  return lines.some(({ limit }) => isAmount(limit));
}

export function planReservation(lines: readonly CountedLine[], estimate: CallEstimate): ReservationPlan {
  const counted = lines.find(({ limit }) => limit === 'maxCost');
  // A budget of a definition is refused when it is loaded; one of a context comes later.
  if (counted && (estimate.inputPrice === undefined || estimate.outputPrice === undefined))
    return { kind: 'unpriced', line: counted };
  const least = toMinimumAmounts(estimate);
  const asked = inOrder(lines).flatMap((line) =>
    isAmount(line.limit) ? [{ line, needs: least[line.limit] }] : [],
  );
  const over = asked.find(({ line, needs }) => line.used + needs > line.max);
  if (over) return { kind: 'deny', line: over.line, observed: over.line.used + over.needs };
  // R2: without the reservations of others there would be room.
  if (asked.some(({ line, needs }) => line.used + line.reserved + needs > line.max))
    return { kind: 'blocked' };
  const { maxOutputTokens } = estimate;
  const left = Math.min(...asked.map(({ line }) => outputWithin(line, estimate)));
  // A request without its own bound must not reserve all that is left.
  const bound = maxOutputTokens ?? (Number.isFinite(left) ? BUDGETED_OUTPUT_TOKENS : left);
  const cap = Math.min(bound, left);
  const output = Number.isFinite(cap) ? cap : 0;
  return {
    kind: 'reserve',
    amounts: toAmounts(estimate, output),
    ...(Number.isFinite(cap) ? { maxOutputTokens: cap } : {}),
  };
}

/** For an optional request: true if there is room for two like it. Reservations of others are not counted. */
export function hasRoomForTwo(lines: readonly CountedLine[], estimate?: () => CallEstimate): boolean {
  if (evaluateSpending(lines, { maxLlmCalls: 2n, familyCalls: 2n }).kind === 'deny') return false;
  if (!estimate || !hasAmounts(lines)) return true;
  const asked = estimate();
  const { kind } = planReservation(lines, { ...asked, inputTokens: asked.inputTokens * 2 });
  return kind === 'reserve' || kind === 'blocked';
}

/** How many tokens of output the line has room for. */
function outputWithin(
  { limit, max, used, reserved }: CountedLine,
  { inputTokens, inputPrice = 0, outputPrice = 0 }: CallEstimate,
): number {
  const left = max - used - reserved;
  if (limit === 'maxOutputTokens') return Number(left);
  const price = toPico(outputPrice);
  if (limit !== 'maxCost' || price === 0n) return Number.POSITIVE_INFINITY;
  const rest = left * TOKENS_PER_PRICE - BigInt(Math.round(inputTokens)) * toPico(inputPrice);
  return Math.max(1, Number(rest / price));
}

/** Changes of the lines when an amount is reserved, settled or corrected. Negative amounts are taken back. */
export interface AmountChange {
  readonly reserved?: Amounts;
  readonly used?: Amounts;
  readonly estimated?: Amounts;
}

export interface ChangedLines {
  readonly changed: readonly CountedLine[];
  /** Lines that warn now. */
  readonly warns: readonly CountedLine[];
  /** Lines that are above their limit. */
  readonly over: readonly CountedLine[];
}

export function changeAmounts(
  lines: readonly CountedLine[],
  { reserved, used, estimated }: AmountChange,
): ChangedLines {
  const before = inOrder(lines).filter(({ limit }) => isAmount(limit));
  const changed = before.map((line) => {
    const by = (amounts: Amounts | undefined) => (isAmount(line.limit) ? (amounts?.[line.limit] ?? 0n) : 0n);
    const after = {
      ...line,
      reserved: toSum(line.reserved + by(reserved)),
      used: toSum(line.used + by(used)),
      estimated: toSum(line.estimated + by(estimated)),
    };
    return { ...after, warned: after.warned || isNear(after) };
  });
  return {
    changed,
    warns: changed.filter(({ warned }, index) => warned && !before[index]?.warned),
    over: changed.filter(({ used: sum, max }) => sum > max),
  };
}

function toSum(amount: Amount): Amount {
  return amount > 0n ? clampAmount(amount) : 0n;
}

export function negate(amounts: Amounts): Amounts {
  return mapAmounts((limit) => -amounts[limit]);
}

export function addAmounts(one: Amounts, other: Amounts): Amounts {
  return mapAmounts((limit) => one[limit] + other[limit]);
}

export const NO_AMOUNTS: Amounts = mapAmounts(() => 0n);

function mapAmounts(amountOf: (limit: keyof Amounts) => Amount): Amounts {
  return Object.fromEntries(AMOUNTS.map((limit) => [limit, amountOf(limit)])) as Amounts;
}
