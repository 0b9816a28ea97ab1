/** Removes the fields of a request that are undefined. */

export function presentFields<T extends object>(request: T): T {
  const present = { ...request };
  for (const field of Object.keys(present) as (keyof T)[]) {
    if (present[field] === undefined) delete present[field];
  }
  return present;
}
