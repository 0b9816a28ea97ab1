/** The values that code reported: delivered in order as they arrive, up to a bound beyond which the run is ended. */
import { errorMessage } from '../../core/value/error.ts';
import { estimateMemory, type FunctionTable, type Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { callInsideBridge } from './host-functions.ts';
import type { Intake } from './intake.ts';
import type { Account } from './ledger.ts';

export interface ReportBookParts {
  readonly intake: Intake;
  readonly account: Account;
  readonly functionTable: FunctionTable;
  readonly onThrown: (message: string) => void;
}

export const TOO_MANY_REPORTS =
  `The code reported more than ${SANDBOX_LIMITS.reportEntries} values or ${SANDBOX_LIMITS.reportBytes} bytes, ` +
  'and was ended.';

export class ReportBook {
  /** The caller holds this array and sees new values as they arrive. */
  readonly values: unknown[] = [];
  readonly #parts: ReportBookParts;
  #report: ((value: unknown) => unknown) | undefined;
  #bytes = 0;

  constructor(parts: ReportBookParts) {
    this.#parts = parts;
  }

  /** Also passes each report to `report`, in order. */
  deliverTo(report: (value: unknown) => unknown): void {
    this.#report = report;
  }

  /** Returns false, without reading the value, if it is more than a run may report. */
  add(wire: Wire): boolean {
    const bytes = estimateMemory(wire);
    const { reportEntries, reportBytes } = SANDBOX_LIMITS;
    if (this.values.length >= reportEntries || this.#bytes + bytes > reportBytes) return false;
    const { account, intake, functionTable } = this.#parts;
    account.hold(bytes);
    this.#bytes += bytes;
    const value = intake.read(wire, functionTable);
    this.values.push(value);
    this.#callReport(value);
    return true;
  }

  /** Calls `report`. An async one may reject later: without a handler, that would crash this process. */
  #callReport(value: unknown): void {
    const { onThrown } = this.#parts;
    const thrown = (error: unknown) => onThrown(`options.report threw: ${errorMessage(error)}`);
    try {
      Promise.resolve(callInsideBridge(() => this.#report?.(value))).catch(thrown);
    } catch (error) {
      thrown(error);
    }
  }
}
