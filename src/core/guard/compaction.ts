/** When a history is summarised, as a definition configures it: thresholds with their defaults and minimums. */

export interface CompactionGuard {
  /** A history with more messages is summarised. */
  readonly thresholdMessages: number;
  /** A history with more characters is summarised. */
  readonly thresholdChars: number;
  /** Number of the newest messages that are kept. */
  readonly retainRecentMessages: number;
  /** True if a request that nearly fills the models' window is summarised. */
  readonly byWindow: boolean;
}

const DEFAULTS = { thresholdMessages: 20, thresholdChars: 48_000, retainRecentMessages: 8 } as const;
/** Defaults with `byWindow`: the window decides, and the other thresholds are a safeguard. */
const BY_WINDOW = { ...DEFAULTS, thresholdMessages: 200, thresholdChars: 200_000 } as const;
/** Minimum number of messages beyond the kept ones before another summary. */
export const GROWTH = 4;

/** Applies defaults and minimums: 8 messages (and GROWTH more than are kept), 4,000 characters, 4 kept messages. */
export function toCompactionGuard(given: Partial<CompactionGuard> = {}): CompactionGuard {
  const { byWindow = false } = given;
  const usual = byWindow ? BY_WINDOW : DEFAULTS;
  const retainRecentMessages = Math.max(given.retainRecentMessages ?? usual.retainRecentMessages, 4);
  const thresholdMessages = Math.max(
    given.thresholdMessages ?? usual.thresholdMessages,
    8,
    retainRecentMessages + GROWTH,
  );
  const thresholdChars = Math.max(given.thresholdChars ?? usual.thresholdChars, 4000);
  return { thresholdMessages, thresholdChars, retainRecentMessages, byWindow };
}

/** `budget`: the budget's policy requests a shorter request. */
export type CompactionReason = 'messages' | 'chars' | 'window' | 'budget';
