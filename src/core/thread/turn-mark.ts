/**
 * How far the hook has come that keeps what a chat turn has said (docs/tangle.md): values of the thread, whose keys the log tells. An execution is
 * complete for its reader once it is kept.
 */
export const TURN_BEGUN = 'everthread.turn.begun';
export const TURN_KEPT = 'everthread.turn.kept';

/** Of a chat turn's message, in its metadata: whose turn it is. */
export const TURN_METADATA = 'chat_turn';
