/** When a history is summarised, as its definition asks for it: thresholds with their defaults and floors. */

export interface CompactionGuard {
  /** More messages than this are a reason. */
  readonly thresholdMessages: number;
  /** More characters than this are a reason. */
  readonly thresholdChars: number;
  /** So many of the newest messages are kept. */
  readonly retainRecentMessages: number;
  /** A request that nearly fills the models' window is a reason. */
  readonly byWindow: boolean;
}

const DEFAULTS = { thresholdMessages: 20, thresholdChars: 48_000, retainRecentMessages: 8 } as const;
/** Where the window decides, the others are for what nobody has foreseen. */
const BY_WINDOW = { ...DEFAULTS, thresholdMessages: 200, thresholdChars: 200_000 } as const;
/** So many messages more are behind a summary before there may be another. */
export const GROWTH = 4;

/** With defaults and floors: 8 messages, 4,000 characters, 4 that are kept, and room for what comes behind those. */
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

/** `budget`: its policy wants a shorter request. */
export type CompactionReason = 'messages' | 'chars' | 'window' | 'budget';
