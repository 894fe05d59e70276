// A header of the host alone. Functions of the host, which are left out, may name these types in their signatures.
#pragma once
namespace std {
template <class T, class... R> class vector;
template <class T, class... R> class deque;
template <class T, class... R> class list;
template <class T, class... R> class set;
template <class T, class... R> class map;
template <class T, class... R> class unordered_set;
template <class T, class... R> class unordered_map;
template <class T, class... R> class unique_ptr;
template <class T, class... R> class shared_ptr;
class string;
class ostream;
class istream;
}
