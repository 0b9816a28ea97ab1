/** A helper file among the tools, and no tool itself. */
export function describePlace(place: string): string {
  return `${place} has a fjord.`;
}
