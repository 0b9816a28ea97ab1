/**
 * Amounts of budgets: whole numbers of the unit of their limit, so that adding and subtracting the same amount leaves nothing. Pure.
 * - The unit of `maxCost` is 10⁻¹² US dollars, that of `maxRuntimeSeconds` is a microsecond, and any other is one step, call or token.
 * - People and authors read and write US dollars and seconds.
 */
import { clampAmount, toPico, toUsd } from '../value/money.ts';
import type { BudgetLine, LineLimit, Spending } from './budget-line.ts';

/** An amount in the unit of its limit. */
export type Amount = bigint;

type Counts = 'max' | 'used' | 'reserved' | 'estimated';

/** A budget line inside. */
export type CountedLine = Omit<BudgetLine, Counts> & Readonly<Record<Counts, Amount>>;

/** Amounts to be spent, by limit. */
export type Payment = Readonly<Partial<Record<LineLimit, Amount>>>;

const MICROS_PER_SECOND = 1_000_000;

/** In the limit's unit. */
export function toAmount(limit: LineLimit, shown: number): Amount {
  if (limit === 'maxCost') return toPico(shown);
  const units = Math.round(limit === 'maxRuntimeSeconds' ? shown * MICROS_PER_SECOND : shown);
  return Number.isFinite(units) ? clampAmount(BigInt(units)) : toPico(units);
}

/** As people read it. */
export function toShown(limit: LineLimit, amount: Amount): number {
  if (limit === 'maxCost') return toUsd(amount);
  return limit === 'maxRuntimeSeconds' ? Number(amount) / MICROS_PER_SECOND : Number(amount);
}

export function toShownLine({ max, used, reserved, estimated, ...line }: CountedLine): BudgetLine {
  const shown = (amount: Amount) => toShown(line.limit, amount);
  return {
    ...line,
    max: shown(max),
    used: shown(used),
    reserved: shown(reserved),
    estimated: shown(estimated),
  };
}

export function toCountedLine({ max, used, reserved, estimated, ...line }: BudgetLine): CountedLine {
  const counted = (shown: number) => toAmount(line.limit, shown);
  return {
    ...line,
    max: counted(max),
    used: counted(used),
    reserved: counted(reserved),
    estimated: counted(estimated),
  };
}

export function toPayment(spending: Spending): Payment {
  return mapLimits(spending, toAmount);
}

export function toSpending(payment: Payment): Spending {
  return mapLimits(payment, toShown);
}

function mapLimits<From, To>(
  amounts: Readonly<Partial<Record<LineLimit, From>>>,
  convert: (limit: LineLimit, amount: From) => To,
): Readonly<Partial<Record<LineLimit, To>>> {
  const entries = Object.entries(amounts) as [LineLimit, From][];
  return Object.fromEntries(entries.map(([limit, amount]) => [limit, convert(limit, amount)])) as Partial<
    Record<LineLimit, To>
  >;
}
