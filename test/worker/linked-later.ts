/** Imported on demand. */
import { order } from './linked-order.ts';

order.push('what is imported on demand begins');
export const said = 'import("./not-a-module.ts") and import.meta.url in a text stay as they are';
