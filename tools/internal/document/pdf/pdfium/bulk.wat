;; Reads many values of PDFium in one call of the host, which costs more than to read a value.
;; After a change: go test -run TestBulk -assemble
(module
 (import "pdfium" "memory" (memory 1))
 (import "pdfium" "FPDFText_GetUnicode" (func $unicode (param i32 i32) (result i32)))
 (import "pdfium" "FPDFText_GetTextObject" (func $object (param i32 i32) (result i32)))
 (import "pdfium" "FPDFText_GetLooseCharBox" (func $box (param i32 i32 i32) (result i32)))
 (import "pdfium" "FPDFText_GetCharOrigin" (func $origin (param i32 i32 i32 i32) (result i32)))
 (import "pdfium" "FPDFText_GetFontSize" (func $size (param i32 i32) (result f64)))
 (import "pdfium" "FPDFText_GetMatrix" (func $matrix (param i32 i32 i32) (result i32)))
 (import "pdfium" "FPDFText_GetFontWeight" (func $weight (param i32 i32) (result i32)))
 (import "pdfium" "FPDFText_HasUnicodeMapError" (func $unmapped (param i32 i32) (result i32)))
 (import "pdfium" "FPDFTextObj_GetFont" (func $font (param i32) (result i32)))
 (import "pdfium" "FPDFPage_GetObject" (func $pageObject (param i32 i32) (result i32)))
 (import "pdfium" "FPDFFormObj_GetObject" (func $formObject (param i32 i32) (result i32)))
 (import "pdfium" "FPDFPageObj_GetType" (func $type (param i32) (result i32)))
 (import "pdfium" "FPDFPath_GetPathSegment" (func $segment (param i32 i32) (result i32)))
 (import "pdfium" "FPDFPathSegment_GetType" (func $segmentType (param i32) (result i32)))
 (import "pdfium" "FPDFPathSegment_GetClose" (func $segmentClose (param i32) (result i32)))
 (import "pdfium" "FPDFPathSegment_GetPoint" (func $segmentPoint (param i32 i32 i32) (result i32)))

 ;; chars writes n records of 88 bytes. What belongs to a text object, from offset 40 on, is
 ;; only in the record of the first of its characters that follow each other.
 (func (export "chars") (param $page i32) (param $n i32) (param $at i32) (local $i i32) (local $o i32) (local $last i32)
  (block $end (loop $next
   (br_if $end (i32.ge_s (local.get $i) (local.get $n)))
   (i32.store (local.get $at) (call $unicode (local.get $page) (local.get $i)))
   (local.set $o (call $object (local.get $page) (local.get $i)))
   (i32.store offset=4 (local.get $at) (local.get $o))
   (if (local.get $o) (then
    (drop (call $box (local.get $page) (local.get $i) (i32.add (local.get $at) (i32.const 8))))
    (drop (call $origin (local.get $page) (local.get $i) (i32.add (local.get $at) (i32.const 24)) (i32.add (local.get $at) (i32.const 32))))
    (i32.store offset=76 (local.get $at) (call $unmapped (local.get $page) (local.get $i)))
    (if (i32.ne (local.get $o) (local.get $last)) (then
     (f64.store offset=40 (local.get $at) (call $size (local.get $page) (local.get $i)))
     (drop (call $matrix (local.get $page) (local.get $i) (i32.add (local.get $at) (i32.const 48))))
     (i32.store offset=72 (local.get $at) (call $weight (local.get $page) (local.get $i)))
     (i32.store offset=80 (local.get $at) (call $font (local.get $o)))
     (local.set $last (local.get $o))))))
   (local.set $at (i32.add (local.get $at) (i32.const 88)))
   (local.set $i (i32.add (local.get $i) (i32.const 1)))
   (br $next))))

 ;; objects writes n records of 8 bytes: an object of a page or form, and its type.
 (func (export "objects") (param $of i32) (param $form i32) (param $n i32) (param $at i32) (local $i i32) (local $o i32)
  (block $end (loop $next
   (br_if $end (i32.ge_s (local.get $i) (local.get $n)))
   (local.set $o (if (result i32) (local.get $form)
    (then (call $formObject (local.get $of) (local.get $i)))
    (else (call $pageObject (local.get $of) (local.get $i)))))
   (i32.store (local.get $at) (local.get $o))
   (if (local.get $o) (then (i32.store offset=4 (local.get $at) (call $type (local.get $o)))))
   (local.set $at (i32.add (local.get $at) (i32.const 8)))
   (local.set $i (i32.add (local.get $i) (i32.const 1)))
   (br $next))))

 ;; segments writes n records of 16 bytes: type, whether it closes, and the point.
 (func (export "segments") (param $path i32) (param $n i32) (param $at i32) (local $i i32) (local $s i32)
  (block $end (loop $next
   (br_if $end (i32.ge_s (local.get $i) (local.get $n)))
   (local.set $s (call $segment (local.get $path) (local.get $i)))
   (if (local.get $s) (then
    (i32.store (local.get $at) (call $segmentType (local.get $s)))
    (i32.store offset=4 (local.get $at) (call $segmentClose (local.get $s)))
    (drop (call $segmentPoint (local.get $s) (i32.add (local.get $at) (i32.const 8)) (i32.add (local.get $at) (i32.const 12))))))
   (local.set $at (i32.add (local.get $at) (i32.const 16)))
   (local.set $i (i32.add (local.get $i) (i32.const 1)))
   (br $next))))
)
