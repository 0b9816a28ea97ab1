/**
 * Shared by all code that sends requests to untrusted servers: the wall around a request (`walled-fetch`), and cleaning
 * of the texts that they return (`text`).
 */
export { quote, visible, visibleIn } from './text.ts';
export { type Wall, type WalledFetch, type WallFault, walledFetch } from './walled-fetch.ts';
