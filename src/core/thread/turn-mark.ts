/**
 * Keys of thread values that mark the progress of the hook that persists a chat turn. The log shows
 * the keys when they are set. An execution is complete for its reader once the turn is kept.
 */
export const TURN_BEGUN = 'everthread.turn.begun';
export const TURN_KEPT = 'everthread.turn.kept';

/** Key of the turn's identity in the metadata of a chat turn's message. */
export const TURN_METADATA = 'chat_turn';
