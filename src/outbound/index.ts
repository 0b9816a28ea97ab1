/** What is common to all that asks servers of strangers: the wall around a request (`walled-fetch`), and their texts (`text`). */
export { quote, visible, visibleIn } from './text.ts';
export { type Wall, type WalledFetch, type WallFault, walledFetch } from './walled-fetch.ts';
