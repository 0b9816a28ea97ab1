/**
 * The entry `everthread/tangle`: the names of Tangle's agent-runtime page over what Everthread does (docs/tangle.md). It translates: what runs, what is kept and
 * what is told is the engine's. What needs no Node is in `everthread/tangle/worker` alone, too.
 */
export { backendProvider } from './backend/provider.ts';
export { type ClientBoxOptions, clientBox } from './box/client-box.ts';
export * from './tasks.ts';
export { type FinishedTurn, persistTurns, type TurnKeeper } from './turn/persist-turns.ts';
export * from './worker.ts';
