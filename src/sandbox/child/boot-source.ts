/**
 * Bundles the sandbox's own modules into one script for the isolate, once per child, before any run. It is a script and
 * not modules, because the engine caches compiled code for scripts only, and isolates are many. The linked program of a
 * child contains the finished script (`host/program.ts`).
 */
import { extname } from 'node:path';
import { link } from './link.ts';

const ENTRY = new URL(`../guest/boot${extname(import.meta.url)}`, import.meta.url);

/** Global variable in which the script leaves its exports; the first module reads and deletes it. */
export const BOOT_GLOBAL = 'everthreadBoot';

export function makeBootScript(): string {
  return `globalThis.${BOOT_GLOBAL} = ${link(ENTRY)};`;
}
