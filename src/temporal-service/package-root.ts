/**
 * Finds the folder of the installed package: the nearest ancestor whose package.json is named `everthread`.
 * The same code runs from `src/` in a clone and from `dist/` in an installed package, so its depth is not fixed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'everthread')
      return folder;
    if (folder === dirname(folder)) throw new Error(`No package.json named "everthread" above ${start}.`);
  }
}

/** A path inside the package, such as `packagePath('temporal', 'cli')`. */
export function packagePath(...parts: string[]): string {
  return join(packageRoot(), ...parts);
}

let version: string | undefined;

export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version;
  return version;
}
