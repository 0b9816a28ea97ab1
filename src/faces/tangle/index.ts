/**
 * The entry point `everthread/tangle`: the names of Tangle's agent-runtime page over the engine (docs/tangle.md). It
 * only translates: the engine runs, stores and streams everything. The parts that need no Node are also in
 * `everthread/tangle/worker`, which has only those.
 */
export { backendProvider } from './backend/provider.ts';
export { type ClientBoxOptions, clientBox } from './box/client-box.ts';
export { type LocalBox, type LocalBoxOptions, localBox } from './box/local-box.ts';
export * from './tasks.ts';
export { type FinishedTurn, persistTurns, type TurnKeeper } from './turn/persist-turns.ts';
export * from './worker.ts';
